import test from 'ava';
import { partsFor } from '../lab/parts.js';
import { runPod, runToEnd, writerCommand } from '../lab/pods.js';
import { withParts } from '../lab/real-test.js';
import { startDaemon } from './daemon.js';
import { APP, available, inventory, MIB, nodeWithGarbage, noLongerRunning, pressTo } from './scene.js';
import { DISKS, withLab } from './with-lab.js';

const EVICTION_HARD = { 'nodefs.available': '40Mi' };

for (const generation of ['1.6', '2.4'] as const) {
  const stage = `containerd ${generation}`;
  withParts(stage, partsFor(generation, 'ext4'), () => {
    test.serial(`${stage}: --dry-run says what would go and changes nothing`, (t) =>
      withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
        await nodeWithGarbage(lab);
        pressTo(lab, 4 * MIB);
        const before = { inventory: await inventory(lab), available: available(lab) };
        const daemon = await startDaemon(lab, { evictionHard: EVICTION_HARD, flags: ['--dry-run'] });
        t.deepEqual(await daemon.ended, { code: 0, signal: null });
        t.deepEqual(await inventory(lab), before.inventory);
        t.true(Math.abs(available(lab) - before.available) < MIB);
        const told = daemon.output();
        for (const garbage of [
          'default/web/migrate',
          'default/batch/job',
          'local.test/old-a:1',
          'local.test/old-b:1',
        ]) {
          t.regex(told, new RegExp(`would remove .*${garbage}`));
        }
        for (const inUse of ['web/server', 'api/server', APP.name, lab.sandboxImage]) {
          t.notRegex(told, new RegExp(`would remove .*${inUse}`));
        }
      }),
    );

    test.serial(`${stage}: SIGTERM ends an idle daemon within 2 s`, (t) =>
      withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
        const daemon = await startDaemon(lab, { evictionHard: EVICTION_HARD });
        await daemon.event('layout-changed');
        const end = await daemon.terminate();
        t.deepEqual([end.code, end.signal], [0, null]);
        t.true(end.tookMs < 2_000, `it took ${end.tookMs} ms`);
      }),
    );

    test.serial(`${stage}: SIGTERM ends a daemon in the middle of a reclaim within 2 s`, (t) =>
      withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
        await nodeWithGarbage(lab);
        pressTo(lab, 4 * MIB);
        const daemon = await startDaemon(lab, { evictionHard: EVICTION_HARD });
        await daemon.event('reclaim-started');
        const end = await daemon.terminate();
        t.deepEqual([end.code, end.signal], [0, null]);
        t.true(end.tookMs < 2_000, `it took ${end.tookMs} ms`);
      }),
    );

    test.serial(
      `${stage}: a runtime that is killed in the middle of a reclaim is waited for, and the reclaim goes on`,
      (t) =>
        withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
          await lab.importImage(APP);
          const jobs = await runPod(lab, { name: 'jobs' });
          for (let attempt = 0; attempt < 12; attempt += 1) {
            await runToEnd(lab, jobs, { name: 'job', attempt, image: APP.name, command: writerCommand(4 * 1024) });
          }
          const alive = await nodeWithGarbage(lab);
          pressTo(lab, 4 * MIB);
          const daemon = await startDaemon(lab, { evictionHard: { 'nodefs.available': '80Mi' } });
          await daemon.event('reclaim-started');
          await lab.kill();
          await daemon.event('runtime-lost');
          await lab.start();
          await daemon.event('runtime-back');
          await daemon.event('threshold-cleared');
          t.is((await daemon.terminate()).code, 0);
          t.deepEqual(daemon.events('pod-killed'), []);
          t.deepEqual(await noLongerRunning(lab, alive.running), []);
        }),
    );
  });
}
