import test from 'ava';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import { type FakeWorld, PATHS } from '../fakes/fake-world.js';
import { emptyWorld, GONE, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const HARD = [threshold('imagefs.available', '100Mi')];
const SIZE = 64 * MIB;
/** The directory above the one that the runtime names. */
const IMAGES = '/var/lib/runtime';

/** A node with `free` MiB left and ballast that an earlier run has laid. */
function nodeWith(free: number, furnish: (world: FakeWorld) => void, wishes: Partial<NodeWishes> = {}): FakeNode {
  const world = emptyWorld();
  furnish(world);
  const node = new FakeNode(world, { thresholds: HARD, ballast: SIZE, ...wishes });
  node.ballast.put(PATHS.root, SIZE);
  world.disks.imagefs.fillUntilFree(free * MIB);
  return node;
}

test('a full disk gets its ballast back before anything is removed, and its gain is measured', async (t) => {
  const node = nodeWith(0, (world) => putImage(world, 'unused', { mib: 60 }));
  const events = await node.pass();
  const kinds = events.map(({ kind }) => kind);
  t.true(kinds.indexOf('ballast-released') < kinds.indexOf('removed'));
  const [released] = ofKind(events, 'ballast-released');
  t.is(released?.reason, 'disk-full');
  t.is(Number(released?.availableAfter) - Number(released?.availableBefore), SIZE);
  t.is(ofKind(events, 'reclaim-finished')[0]?.availableBefore['imagefs.available'], SIZE);
});

test('ballast that is enough spares images and pods', async (t) => {
  const node = nodeWith(0, (world) => putImage(world, 'unused'), {
    thresholds: [threshold('imagefs.available', '50Mi')],
  });
  t.deepEqual(ofKind(await node.passes(2), 'removed'), []);
  t.is(node.world.images.size, 1);
});

test('a removal that finds no room is tried again in the same pass, with the ballast released', async (t) => {
  const node = nodeWith(20, (world) => putImage(world, 'unused', { mib: 60 }));
  node.runtime.failBelow('removeImage', 'no-space', 50 * MIB);
  const events = await node.pass();
  t.is(ofKind(events, 'ballast-released')[0]?.reason, 'removal-failed');
  t.is(ofKind(events, 'removal-failed').length, 1);
  t.is(ofKind(events, 'removed').length, 1);
  t.is(ofKind(events, 'reclaim-finished')[0]?.outcome, 'reached');
});

test('while somebody is seen filling the disk, ballast is kept for what fails', async (t) => {
  const node = nodeWith(30, (world) => putContainer(world, 'dead', GONE, { mib: 150 }));
  node.runtime.fail('listContainers', 'failed');
  await node.pass();
  node.world.disks.imagefs.fillUntilFree(0);
  t.deepEqual(ofKind(await node.pass(), 'ballast-released'), []);
  node.world.clock.skip(2_500);
  t.is(ofKind(await node.pass(), 'ballast-released').length, 1);
});

test('it is laid when there has been room for half a minute, in steps, and only then', async (t) => {
  const world = emptyWorld();
  const node = new FakeNode(world, { thresholds: HARD, ballast: SIZE });
  world.disks.imagefs.fillUntilFree(300 * MIB);
  await node.passes(10);
  t.deepEqual(node.ballast.calls, [`held ${PATHS.root}`]);
  world.clock.skip(30_000);
  const [laid] = ofKind(await node.pass(), 'ballast-laid');
  t.deepEqual([laid?.held, laid?.adopted], [SIZE, false]);
  t.is(world.disks.imagefs.freeBytes, 236 * MIB);
  t.deepEqual(ofKind(await node.passes(3), 'ballast-laid'), []);
});

test('it is not laid where it would take more than half of what is above the target', async (t) => {
  const world = emptyWorld();
  const node = new FakeNode(world, { thresholds: HARD, ballast: SIZE });
  world.disks.imagefs.fillUntilFree(100 * MIB + 2 * SIZE - 1);
  await node.pass();
  world.clock.skip(40_000);
  t.deepEqual(ofKind(await node.passes(2), 'ballast-laid'), []);
  t.is(world.disks.imagefs.freeBytes, 100 * MIB + 2 * SIZE - 1);
});

test('pressure that comes between begins the wait anew', async (t) => {
  const world = emptyWorld();
  const node = new FakeNode(world, { thresholds: HARD, ballast: SIZE });
  world.disks.imagefs.fillUntilFree(300 * MIB);
  await node.pass();
  world.clock.skip(20_000);
  world.disks.imagefs.fillUntilFree(90 * MIB);
  await node.pass();
  world.disks.imagefs.fillUntilFree(300 * MIB);
  world.clock.skip(15_000);
  t.deepEqual(ofKind(await node.passes(2), 'ballast-laid'), []);
  world.clock.skip(30_000);
  t.is(ofKind(await node.pass(), 'ballast-laid').length, 1);
});

test('a writer who comes while it is laid stops it before a line is near', async (t) => {
  const world = emptyWorld();
  const node = new FakeNode(world, { thresholds: HARD, ballast: SIZE });
  world.disks.imagefs.fillUntilFree(300 * MIB);
  await node.pass();
  world.clock.skip(30_000);
  let steps = 0;
  node.ballast.beforeResize = () => {
    steps += 1;
    if (steps === 3) world.disks.imagefs.fillUntilFree(150 * MIB);
  };
  t.deepEqual(ofKind(await node.pass(), 'ballast-laid'), []);
  t.is(steps, 3);
});

test('what an earlier run has left is taken over and told once; each disk has its own', async (t) => {
  const world = emptyWorld('image-disk');
  const thresholds = [threshold('nodefs.available', '100Mi'), ...HARD];
  const node = new FakeNode(world, { thresholds, ballast: SIZE });
  node.ballast.put(PATHS.root, SIZE);
  node.ballast.put(IMAGES, SIZE);
  t.deepEqual(
    ofKind(await node.passes(3), 'ballast-laid').map(({ filesystem, directory, adopted }) => [
      filesystem,
      directory,
      adopted,
    ]),
    [
      ['nodefs', PATHS.root, true],
      ['imagefs', IMAGES, true],
    ],
  );
});

test('ballast that cannot be laid is given back, said once, and tried again later', async (t) => {
  const world = emptyWorld();
  const node = new FakeNode(world, { thresholds: HARD, ballast: SIZE });
  node.ballast.broken.add('resize');
  world.disks.imagefs.fillUntilFree(300 * MIB);
  await node.pass();
  world.clock.skip(30_000);
  const [failed, ...more] = ofKind(await node.passes(5), 'ballast-failed');
  t.is(failed?.doing, 'lay');
  t.deepEqual(more, []);
  t.is(world.disks.imagefs.freeBytes, 300 * MIB);
  node.ballast.broken.clear();
  world.clock.skip(600_000);
  t.is(ofKind(await node.pass(), 'ballast-laid').length, 1);
});

test('a release that fails is said, and tried again', async (t) => {
  const node = nodeWith(0, () => undefined);
  node.ballast.broken.add('release');
  t.is(ofKind(await node.pass(), 'ballast-failed')[0]?.doing, 'release');
  node.ballast.broken.clear();
  t.is(ofKind(await node.pass(), 'ballast-released').length, 1);
});

test('a dry run touches no ballast', async (t) => {
  const node = nodeWith(0, () => undefined);
  await node.rehearse();
  t.deepEqual(node.ballast.calls, []);
});

test('a disk that no line watches has none', async (t) => {
  const world = emptyWorld('image-disk');
  const node = new FakeNode(world, { thresholds: HARD, ballast: SIZE });
  await node.pass();
  world.clock.skip(30_000);
  await node.pass();
  t.true(node.ballast.calls.every((call) => call.endsWith(IMAGES)));
});

test('a pod that is evicted on a full disk is gone, with the ballast released', async (t) => {
  const node = nodeWith(0, (world) => {
    putContainer(world, 'app', putPod(world, 'hog', { volumeMib: 200 }), { state: 'running', mib: 0 });
  });
  const events = await node.pass();
  t.is(ofKind(events, 'ballast-released').length, 1);
  t.is(ofKind(events, 'pod-killed')[0]?.outcome.kind, 'gone');
});
