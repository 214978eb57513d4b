import type { Goal } from '../../src/eviction/event.js';
import { POLICIES, type ProfileName } from '../../src/eviction/policy.js';
import type { FilesystemName } from '../../src/eviction/signal.js';
import { LateSpace } from '../../src/reclaim/late-space.js';
import type { ReclaimRun } from '../../src/reclaim/run.js';
import type { FakeWorld } from './fake-world.js';

/** A collection that needs so many bytes free on a filesystem of the world. */
export function runFor(
  world: FakeWorld,
  target: number,
  more: {
    readonly filesystem?: FilesystemName;
    readonly profile?: ProfileName;
    readonly isHard?: boolean;
    readonly signal?: AbortSignal;
    readonly goals?: readonly Goal[];
  } = {},
): ReclaimRun {
  const filesystem = more.filesystem ?? 'imagefs';
  const disk = world.disks[filesystem];
  return {
    goals: more.goals ?? [{ signal: `${filesystem}.available`, line: target, target }],
    isHard: more.isHard ?? true,
    policy: POLICIES[more.profile ?? 'reclaimd'],
    clock: world.clock,
    late: new LateSpace(),
    signal: more.signal ?? new AbortController().signal,
    look: async () => ({
      [`${filesystem}.available`]: disk.freeBytes,
      [`${filesystem}.inodesFree`]: disk.freeInodes,
    }),
  };
}
