import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { LabContainerd } from '../lab/containerd.js';
import { availableInodes } from '../lab/disk.js';
import { partsFor } from '../lab/parts.js';
import { fileMakerCommand, listContainers, listImageTags, runContainer, runPod, runToEnd } from '../lab/pods.js';
import { withParts } from '../lab/real-test.js';
import { startDaemon } from './daemon.js';
import { APP, noLongerRunning } from './scene.js';
import { withLab } from './with-lab.js';

const OLD = {
  name: 'local.test/old-files:1',
  layers: [...APP.layers, { kind: 'files', count: 1_500, seed: 'old' }],
} as const;

for (const [generation, filesystem] of [
  ['1.6', 'ext4'],
  ['2.4', 'ext4'],
  ['2.4', 'tmpfs'],
] as const) {
  const stage = `containerd ${generation} on ${filesystem}`;
  withParts(stage, partsFor(generation, filesystem), () => {
    test.serial(`${stage}: when inodes run out, dead containers and unused images go and no pod does`, (t) =>
      withLab(t, { generation, filesystem, sizeMiB: 256, inodes: 6_000 }, async (lab) => {
        await lab.importImage(APP);
        await lab.importImage(OLD);
        const web = await runPod(lab, { name: 'web' });
        const running = await runContainer(lab, web, { name: 'server', image: APP.name });
        const dead = await runToEnd(lab, web, { name: 'unpack', image: APP.name, command: fileMakerCommand(800) });
        pressInodesTo(lab, 100);

        const daemon = await startDaemon(lab, { evictionHard: { 'nodefs.inodesFree': '1000' } });
        await daemon.event('threshold-cleared');
        t.is((await daemon.terminate()).code, 0);

        t.deepEqual(daemon.events('eviction-decided', 'pod-killed'), []);
        t.true(availableInodes(lab.diskPath) >= 1_000, `${availableInodes(lab.diskPath)} inodes are free`);
        t.deepEqual(await noLongerRunning(lab, [running]), []);
        t.false((await listContainers(lab)).some(({ id }) => id === dead));
        t.deepEqual(await listImageTags(lab), [APP.name, lab.sandboxImage].sort());
      }),
    );
  });
}

/** Makes small files that are nobody's garbage until so many inodes are left. */
function pressInodesTo(lab: LabContainerd, leave: number): void {
  const directory = lab.outside(join(lab.paths.disk, 'fillers'));
  mkdirSync(directory);
  const count = availableInodes(lab.diskPath) - leave;
  for (let index = 0; index < count; index += 1) writeFileSync(join(directory, String(index)), '');
}
