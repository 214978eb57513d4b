import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import { type FakeWorld, PATHS } from '../fakes/fake-world.js';
import { emptyWorld, GONE, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const HARD = [threshold('imagefs.available', '100Mi')];
const SIZE = 64 * MIB;
/** What a runtime needs to record an end. */
const ROOM = 64 * 1024;

/** A full disk, on which the end of a container cannot be recorded; `hog` has written most of it, `other` less. */
function fullNode(furnish: (world: FakeWorld) => void, wishes: Partial<NodeWishes> = {}) {
  const world = emptyWorld();
  putContainer(world, 'app-of-hog', putPod(world, 'hog'), { state: 'running', mib: 300 });
  putContainer(world, 'app-of-other', putPod(world, 'other'), { state: 'running', mib: 200 });
  furnish(world);
  const node = new FakeNode(world, { thresholds: HARD, ...wishes });
  node.runtime.roomToRecord = ROOM;
  world.disks.imagefs.fillUntilFree(0);
  return node;
}

function victims(events: readonly EvictionEvent[]): readonly string[] {
  return ofKind(events, 'eviction-decided').map(({ pod }) => pod.uid);
}

test('ballast that is kept for it lets a stop that hangs be recorded, and the pod is gone in the same pass', async (t) => {
  const node = fullNode(() => undefined, { ballast: SIZE });
  node.ballast.put(PATHS.root, SIZE);
  // It falls between two looks within two seconds: somebody is filling the disk.
  node.world.disks.imagefs.fillUntilFree(500 * MIB);
  await node.pass();
  node.world.disks.imagefs.fillUntilFree(0);
  const events = await node.pass();
  t.deepEqual(
    ofKind(events, 'ballast-released').map(({ reason }) => reason),
    ['stop-hangs'],
  );
  t.deepEqual(
    ofKind(events, 'stop-hangs').map(({ freed }) => freed),
    ['ballast'],
  );
  const [killed] = ofKind(events, 'pod-killed');
  t.is(killed?.outcome.kind, 'gone');
  t.true(Number(killed?.took) < 6_000, `${killed?.took} ms`);
  t.deepEqual(victims(events), ['hog']);
});

test('without ballast one thing that nobody needs goes, and no more than one', async (t) => {
  const node = fullNode((world) => {
    putImage(world, 'new', { mib: 20 });
    putImage(world, 'newer', { mib: 20 });
  });
  // The collection before the eviction gets nothing removed.
  let lists = 0;
  node.runtime.beforeEffect = ({ call }) => {
    if (call === 'listImages') lists += 1;
    if (call === 'removeImage' && lists === 1) throw new Error('not yet');
  };
  const events = await node.pass();
  t.deepEqual(
    ofKind(events, 'stop-hangs').map(({ freed }) => freed),
    ['garbage'],
  );
  t.is(ofKind(events, 'pod-killed')[0]?.outcome.kind, 'gone');
  t.is(node.world.images.size, 1);
});

test('with neither it is said once what would help, nobody else is chosen, and the end is recorded when there is room', async (t) => {
  const node = fullNode(() => undefined);
  const events = [...(await node.pass())];
  t.deepEqual(
    ofKind(events, 'stop-hangs').map(({ freed }) => freed),
    ['nothing'],
  );
  t.is(ofKind(events, 'kill-outstanding').length, 1);
  t.deepEqual(victims(await node.pass()), []);
  node.world.disks.imagefs.fillUntilFree(5 * MIB);
  node.world.clock.skip(500);
  const later = await node.passes(1);
  await node.world.clock.pass(1_000);
  const [killed] = ofKind([...later, ...(await node.pass())], 'pod-killed');
  t.deepEqual([killed?.pod.uid, killed?.outcome.kind], ['hog', 'gone']);
});

test('an end that is not recorded is told apart from a pod that runs, where its processes can be seen', async (t) => {
  const outcomeOf = async (isBlind: boolean) => {
    const node = fullNode(() => undefined);
    node.processes.isBlind = isBlind;
    const first = await node.pass();
    node.world.clock.skip(31_000);
    const events = [...first, ...(await node.passes(2))];
    return [ofKind(events, 'pod-lingers')[0]?.outcome.kind, ofKind(events, 'pod-killed')[0]?.outcome.kind];
  };
  t.deepEqual(await outcomeOf(false), ['unrecorded', 'unrecorded']);
  t.deepEqual(await outcomeOf(true), ['still-running', 'still-running']);
});

test('a pod whose processes are gone gives up its volumes before its end is recorded, and thereby lets it be', async (t) => {
  const world = emptyWorld();
  const node = new FakeNode(world, { thresholds: HARD });
  putContainer(world, 'app', putPod(world, 'hog', { volumeMib: 300 }), { state: 'running', mib: 0 });
  node.runtime.roomToRecord = ROOM;
  world.disks.imagefs.fillUntilFree(0);
  const events = await node.pass();
  t.is(ofKind(events, 'pod-killed')[0]?.outcome.kind, 'gone');
  t.true(Number(ofKind(events, 'pod-killed')[0]?.took) < 5_000);
  t.deepEqual(
    ofKind(events, 'removed').map(({ subject }) => subject.what),
    ['pod-logs', 'pod-volumes', 'container', 'sandbox'],
  );
});

test('a pass stays half a minute with a kill, whatever the grace; what is to come stays in the account', async (t) => {
  const world = emptyWorld();
  const soft = [threshold('imagefs.available', '100Mi', { graceSeconds: 0.05 })];
  putContainer(world, 'app', putPod(world, 'hog', { volumeMib: 200, terminationGrace: 3_600_000 }), {
    state: 'running',
    mib: 0,
  });
  putContainer(world, 'app-of-other', putPod(world, 'other', { volumeMib: 150 }), { state: 'running', mib: 0 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const node = new FakeNode(world, { thresholds: soft });
  node.runtime.latency = { stopContainer: 3_600_000 };
  await node.pass();
  const began = world.clock.now();
  const events = await node.pass();
  const took = world.clock.now() - began;
  t.true(took >= 30_000 && took < 31_000, `${took} ms`);
  const [outstanding] = ofKind(events, 'kill-outstanding');
  t.is(Number(outstanding?.waitUntil) - Number(ofKind(events, 'eviction-decided')[0]?.at), 3_600_000 + 30_000);
  t.deepEqual(victims(await node.passes(3)), []);
});

test('a hard line met in a later pass cuts the grace of the pod that ends, and evicts nobody else in that pass', async (t) => {
  const world = emptyWorld();
  const thresholds = [
    threshold('imagefs.available', '100Mi', { graceSeconds: 0.05 }),
    threshold('imagefs.available', '50Mi'),
  ];
  putContainer(world, 'app', putPod(world, 'hog', { volumeMib: 30, terminationGrace: 3_600_000 }), {
    state: 'running',
    mib: 0,
  });
  putContainer(world, 'app-of-other', putPod(world, 'other', { volumeMib: 20 }), { state: 'running', mib: 0 });
  world.disks.imagefs.fillUntilFree(60 * MIB);
  const node = new FakeNode(world, { thresholds });
  node.runtime.latency = { stopContainer: 3_600_000 };
  await node.passes(2);
  node.runtime.latency = {};
  world.disks.imagefs.fillUntilFree(10 * MIB);
  const events = await node.pass();
  t.is(ofKind(events, 'eviction-hastened')[0]?.pod.uid, 'hog');
  t.deepEqual(victims(events), []);
  t.deepEqual(
    node.runtime.calls.filter(({ call }) => call === 'stopContainer').map(({ target, grace }) => [target, grace]),
    [
      ['app', 3_600_000],
      ['app', 0],
    ],
  );
});

test('while what is still to come cannot reach the target, another pod may go', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'app-of-small', putPod(world, 'small', { volumeMib: 30, priority: -1 }), {
    state: 'running',
    mib: 0,
  });
  putContainer(world, 'app-of-large', putPod(world, 'large', { volumeMib: 80 }), { state: 'running', mib: 0 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const node = new FakeNode(world, { thresholds: HARD });
  node.runtime.latency = { stopContainer: 100_000 };
  t.deepEqual(victims(await node.pass()), ['small']);
  t.deepEqual(victims(await node.pass()), ['large']);
  // Now the two together will do.
  putContainer(world, 'app-of-third', putPod(world, 'third', { volumeMib: 80 }), { state: 'running', mib: 0 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  t.deepEqual(victims(await node.passes(2)), []);
});

test('an eviction that an earlier life began is taken up with what is left of its grace', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'app', putPod(world, 'hog', { volumeMib: 200 }), { state: 'running', mib: 0 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const before = new FakeNode(world, { thresholds: [threshold('imagefs.available', '100Mi', { graceSeconds: 0.05 })] });
  before.runtime.latency = { stopContainer: 3_600_000 };
  await before.passes(2);
  before.abort.abort();
  const after = new FakeNode(world, { thresholds: HARD });
  after.state = before.state;
  const events = await after.passes(2);
  const [stop] = after.runtime.calls.filter(({ call }) => call === 'stopContainer');
  t.is(stop?.target, 'app');
  t.true(Number(stop?.grace) <= 30_000);
  t.deepEqual(victims(events), []);
});

test('dead containers and images go from a full disk before any pod, with nothing released', async (t) => {
  const node = fullNode((world) => {
    putContainer(world, 'dead', GONE, { mib: 120 });
  });
  const events = await node.pass();
  t.deepEqual(victims(events), []);
  t.deepEqual(ofKind(events, 'stop-hangs'), []);
});
