import test from 'ava';
import { threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, GONE, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const LINE = [threshold('imagefs.available', '100Mi', { minReclaim: '20Mi' })];

function node() {
  const world = emptyWorld();
  putContainer(world, 'dead', GONE, { mib: 30 });
  putImage(world, 'old', { mib: 20 });
  putImage(world, 'spare', { mib: 20 });
  const pod = putPod(world, 'web', { volumeMib: 50 });
  putContainer(world, 'app', pod, { state: 'running', mib: 1 });
  world.disks.imagefs.fillUntilFree(80 * MIB);
  return new FakeNode(world, { thresholds: LINE });
}

test('a dry run says in order what would go and who, and asks the runtime to change nothing', async (t) => {
  const dry = node();
  const events = await dry.pass('dry-run');
  t.deepEqual(
    ofKind(events, 'would-remove').map(({ subject, onlyIfNeeded }) => [subject.id, onlyIfNeeded]),
    [
      ['dead', false],
      ['sha256:old', false],
      ['sha256:spare', true],
    ],
  );
  t.deepEqual(
    ofKind(events, 'would-evict').map(({ standing, onlyIfNeeded }) => [standing.uid, onlyIfNeeded]),
    [['web', true]],
  );
  t.deepEqual(dry.runtime.mutations, []);
  t.deepEqual(dry.files.removed, []);
});

test('a dry run under the kubelet profile marks nothing as needed only in case: all of it would go', async (t) => {
  const world = node().world;
  const dry = new FakeNode(world, { thresholds: LINE, profile: 'kubelet' });
  const events = await dry.pass('dry-run');
  t.deepEqual(
    ofKind(events, 'would-remove').map(({ onlyIfNeeded }) => onlyIfNeeded),
    [false, false, false],
  );
});

test('with nothing to collect the dry run names the pod that would go', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'app', putPod(world, 'web', { volumeMib: 50 }), { state: 'running', mib: 1 });
  world.disks.imagefs.fillUntilFree(80 * MIB);
  const events = await new FakeNode(world, { thresholds: LINE }).pass('dry-run');
  t.deepEqual(
    ofKind(events, 'would-evict').map(({ standing, onlyIfNeeded }) => [standing.uid, onlyIfNeeded]),
    [['web', false]],
  );
});

test('a dry run names nobody where every pod is protected', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'app', putPod(world, 'web', { source: 'file' }), { state: 'running', mib: 1 });
  world.disks.imagefs.fillUntilFree(80 * MIB);
  const events = await new FakeNode(world, { thresholds: LINE }).pass('dry-run');
  t.deepEqual(ofKind(events, 'would-evict'), []);
});

test('a dry run that cannot ask for images still tells the containers that would go', async (t) => {
  const dry = node();
  dry.runtime.fail('listImages', 'failed');
  const events = await dry.pass('dry-run');
  t.deepEqual(
    ofKind(events, 'would-remove').map(({ subject }) => subject.id),
    ['dead'],
  );
  t.deepEqual(
    ofKind(events, 'list-failed').map(({ what }) => what),
    ['the images that would go'],
  );
});

test('a dry run that cannot list the pods says so', async (t) => {
  const dry = node();
  dry.runtime.fail('listSandboxes', 'failed');
  const events = await dry.pass('dry-run');
  t.deepEqual(
    ofKind(events, 'list-failed').map(({ what }) => what),
    ['the containers that would go', 'the pods to choose from'],
  );
});

test('for memory a dry run has nothing to collect and names the pod', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'app', putPod(world, 'web'), { state: 'running', mib: 1 });
  const dry = new FakeNode(world, { thresholds: [threshold('memory.available', '1Gi')] });
  dry.nodeStats.memoryFree = 1_000 * MIB;
  const events = await dry.pass('dry-run');
  t.deepEqual(ofKind(events, 'reclaim-started')[0]?.steps, []);
  t.is(ofKind(events, 'would-evict')[0]?.standing.uid, 'web');
});

test('what nobody knows the size of counts for nothing in a dry run: more may be needed', async (t) => {
  const dry = node();
  putContainer(dry.world, 'mystery', GONE, { mib: 500, told: 'nothing' });
  dry.world.disks.imagefs.fillUntilFree(80 * MIB);
  const events = await dry.pass('dry-run');
  t.deepEqual(
    ofKind(events, 'would-remove').map(({ subject, onlyIfNeeded }) => [subject.claimed === null, onlyIfNeeded]),
    [
      [false, false],
      [true, false],
      [false, false],
      [false, true],
    ],
  );
});

test('a dry run on a disk that cannot be seen any more counts all of the line as missing', async (t) => {
  const dry = node();
  const look = dry.mounts.look.bind(dry.mounts);
  let looks = 0;
  dry.mounts.look = async (path) => {
    looks += 1;
    if (looks > 3) dry.mounts.odd.set('/var/lib/runtime/images', 'hung');
    return look(path);
  };
  const events = await dry.pass('dry-run');
  t.true(ofKind(events, 'would-remove').length > 0);
});
