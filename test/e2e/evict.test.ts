import test from 'ava';
import { partsFor } from '../lab/parts.js';
import { withParts } from '../lab/real-test.js';
import { startDaemon } from './daemon.js';
import { available, MIB, nodeWithWritersOnly, noLongerRunning, pressTo } from './scene.js';
import { DISKS, STAGES, withLab } from './with-lab.js';

for (const [generation, disk] of STAGES) {
  const stage = `containerd ${generation} on ${disk}`;
  withParts(stage, partsFor(generation, disk), () => {
    test.serial(`${stage}: when nothing can be collected, one pod goes, the one that uses most`, (t) =>
      withLab(t, { generation, ...DISKS[disk] }, async (lab) => {
        const { largest, others } = await nodeWithWritersOnly(lab);
        pressTo(lab, 20 * MIB);
        const daemon = await startDaemon(lab, { evictionHard: { 'nodefs.available': '40Mi' } });
        await daemon.event('threshold-cleared');
        t.is((await daemon.terminate()).code, 0);
        t.is(daemon.events('pod-killed').length, 1);
        t.deepEqual(await noLongerRunning(lab, [largest]), [largest]);
        t.deepEqual(await noLongerRunning(lab, others), []);
        t.true(available(lab) >= 40 * MIB, `${available(lab)} bytes are available`);
      }),
    );
  });
}
