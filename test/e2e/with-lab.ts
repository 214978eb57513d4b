import { existsSync, readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { type ContainerdSpec, type LabContainerd, startContainerd } from '../lab/containerd.js';
import type { Generation } from '../lab/parts.js';
import { daemonLog } from './daemon.js';

/** Kinds of small disks, each of about the least size that the filesystem takes. */
export const DISKS = {
  ext4: { filesystem: 'ext4', sizeMiB: 256 },
  xfs: { filesystem: 'xfs', sizeMiB: 320 },
  tmpfs: { filesystem: 'tmpfs', sizeMiB: 256 },
} as const;

/** Generations and disks that a scenario is played on. */
export const STAGES = [
  ['1.6', 'ext4'],
  ['2.4', 'ext4'],
  ['1.6', 'xfs'],
  ['2.4', 'xfs'],
] as const satisfies readonly (readonly [Generation, keyof typeof DISKS])[];

/** Plays on a runtime of its own and closes it; when the play fails, their logs go with the failure. */
export async function withLab(
  t: ExecutionContext,
  spec: ContainerdSpec,
  play: (lab: LabContainerd) => Promise<void>,
): Promise<void> {
  // A disk that is full makes a runtime back off for half a minute at a time.
  t.timeout(180_000);
  const lab = await startContainerd(spec);
  try {
    await play(lab);
  } catch (error) {
    t.log(`containerd:\n${lab.log().slice(-2_000)}`);
    if (existsSync(daemonLog(lab))) t.log(`reclaimd:\n${readFileSync(daemonLog(lab), 'utf8').slice(-20_000)}`);
    throw error;
  } finally {
    await lab.close();
  }
}
