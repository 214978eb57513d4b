import test, { type ExecutionContext } from 'ava';
import type { LabContainerd } from '../lab/containerd.js';
import { partsFor } from '../lab/parts.js';
import { listContainers, listImageTags } from '../lab/pods.js';
import { withParts } from '../lab/real-test.js';
import { type DaemonUnderTest, startDaemon } from './daemon.js';
import { APP, available, MIB, nodeWithGarbage, noLongerReady, noLongerRunning, pressTo, type Scene } from './scene.js';
import { DISKS, STAGES, withLab } from './with-lab.js';

const LINE = 40 * MIB;
const EVICTION_HARD = { 'nodefs.available': '40Mi', 'imagefs.available': '40Mi' };

for (const [generation, disk] of STAGES) {
  const stage = `containerd ${generation} on ${disk}`;
  withParts(stage, partsFor(generation, disk), () => {
    test.serial(
      `${stage}: when dead containers and one unused image are enough, no pod and no other image is touched`,
      (t) =>
        withLab(t, { generation, ...DISKS[disk] }, async (lab) => {
          const scene = await nodeWithGarbage(lab);
          pressTo(lab, 4 * MIB);
          const daemon = await startDaemon(lab, { evictionHard: EVICTION_HARD });
          await daemon.event('threshold-cleared');
          t.is((await daemon.terminate()).code, 0);
          await assertOnlyGarbageWent(t, lab, scene, daemon);
          t.is(await unusedLeft(lab, scene), 1, 'it stops when the line is reached');
        }),
    );
  });
}

const FULL_STAGES = [...STAGES, ['1.6', 'tmpfs'], ['2.4', 'tmpfs']] as const;

for (const [generation, disk] of FULL_STAGES) {
  const stage = `containerd ${generation} on ${disk}`;
  withParts(`${stage}, full`, partsFor(generation, disk), () => {
    test.serial(`${stage}: a disk that is full to the last byte is cleared`, (t) =>
      withLab(t, { generation, ...DISKS[disk] }, async (lab) => {
        const scene = await nodeWithGarbage(lab);
        pressTo(lab, 0);
        const daemon = await startDaemon(lab, { evictionHard: EVICTION_HARD });
        await daemon.event('threshold-cleared');
        t.is((await daemon.terminate()).code, 0);
        await assertOnlyGarbageWent(t, lab, scene, daemon);
      }),
    );
  });
}

async function assertOnlyGarbageWent(
  t: ExecutionContext,
  lab: LabContainerd,
  scene: Scene,
  daemon: DaemonUnderTest,
): Promise<void> {
  t.true(available(lab) >= LINE, `${available(lab)} bytes are available`);
  t.deepEqual(daemon.events('eviction-decided', 'pod-killed'), []);
  t.deepEqual(await noLongerRunning(lab, scene.running), []);
  t.deepEqual(await noLongerReady(lab, scene.pods), []);
  const tags = await listImageTags(lab);
  t.true(tags.includes(APP.name), 'the image in use stays');
  t.true(tags.includes(lab.sandboxImage), 'the sandbox image stays');
  const left = (await listContainers(lab)).map(({ id }) => id);
  t.deepEqual(
    scene.dead.filter((id) => left.includes(id)),
    [],
    'dead containers go first',
  );
}

async function unusedLeft(lab: LabContainerd, scene: Scene): Promise<number> {
  const tags = await listImageTags(lab);
  return scene.unusedImages.filter((name) => tags.includes(name)).length;
}
