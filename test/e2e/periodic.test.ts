import test from 'ava';
import { RuntimeServiceService } from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import { partsFor } from '../lab/parts.js';
import { listContainers, runContainer, runPod, runToEnd, writerCommand } from '../lab/pods.js';
import { withParts } from '../lab/real-test.js';
import { startDaemon } from './daemon.js';
import { APP, noLongerReady, noLongerRunning } from './scene.js';
import { DISKS, withLab } from './with-lab.js';

/** No line is near, so that all that goes goes without pressure. */
const EVICTION_HARD = { 'nodefs.available': '1Mi' };
const COLLECTING = { containers: 'auto', images: 'never', logRotation: 'never' };

for (const generation of ['1.6', '2.4'] as const) {
  const stage = `containerd ${generation}`;
  withParts(stage, partsFor(generation, 'ext4'), () => {
    test.serial(
      `${stage}: by the rules from before CRI old sandboxes and jobs go, and what runs runs on in its own`,
      (t) =>
        withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
          await lab.importImage(APP);
          const stopped: string[] = [];
          for (const attempt of [0, 1]) {
            const { sandboxId } = await runPod(lab, { name: 'web', attempt });
            await call(lab.runtime, RuntimeServiceService.stopPodSandbox, { podSandboxId: sandboxId });
            stopped.push(sandboxId);
          }
          const web = await runPod(lab, { name: 'web', attempt: 2 });
          const server = await runContainer(lab, web, { name: 'server', image: APP.name });
          const jobs: string[] = [];
          for (const attempt of [0, 1, 2]) {
            jobs.push(await runToEnd(lab, web, { name: 'job', attempt, image: APP.name, command: writerCommand(1) }));
          }
          const daemon = await startDaemon(lab, {
            evictionHard: EVICTION_HARD,
            settings: { profile: 'kubelet', containerGC: { rules: 'docker-era' }, periodicCollection: COLLECTING },
          });
          await daemon.line('the run', ({ event, collector }) => event === 'gc-run' && collector === 'container');
          t.is((await daemon.terminate()).code, 0);
          t.deepEqual(await noLongerRunning(lab, [server]), []);
          t.deepEqual(await noLongerReady(lab, [web]), []);
          const { items } = await call(lab.runtime, RuntimeServiceService.listPodSandbox, { filter: undefined });
          t.deepEqual(items.map(({ id }) => id).toSorted(), [stopped[1], web.sandboxId].toSorted());
          const left = (await listContainers(lab)).map(({ id }) => id);
          t.deepEqual(left.toSorted(), [server, jobs[2]].toSorted());
          t.deepEqual(daemon.events('not-collected', 'gc-step-failed'), []);
        }),
    );
  });
}

withParts('containerd 2.4', partsFor('2.4', 'ext4'), () => {
  test.serial(
    'containerd 2.4: a death that it tells of is cleaned up at once, where lists are ten seconds apart',
    (t) =>
      withLab(t, { generation: '2.4', ...DISKS.ext4 }, async (lab) => {
        await lab.importImage(APP);
        const web = await runPod(lab, { name: 'web' });
        const first = await runToEnd(lab, web, { name: 'job', image: APP.name, command: writerCommand(1) });
        const second = await runContainer(lab, web, { name: 'job', attempt: 1, image: APP.name });
        const daemon = await startDaemon(lab, {
          evictionHard: EVICTION_HARD,
          settings: { periodicCollection: COLLECTING },
        });
        await daemon.line('the run', ({ event, collector }) => event === 'gc-run' && collector === 'container');
        const began = performance.now();
        await call(lab.runtime, RuntimeServiceService.stopContainer, { containerId: second, timeout: 0n });
        await daemon.line('the clean-up', ({ event, id }) => event === 'collected' && id === first);
        const tookMs = performance.now() - began;
        t.true(tookMs < 5_000, `it took ${tookMs} ms`);
        t.is((await daemon.terminate()).code, 0);
        t.deepEqual(
          (await listContainers(lab)).map(({ id }) => id),
          [second],
        );
      }),
  );
});
