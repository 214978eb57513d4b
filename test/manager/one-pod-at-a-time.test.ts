import test from 'ava';
import { threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, GONE, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const BOTH = [threshold('nodefs.available', '100Mi'), threshold('imagefs.available', '100Mi')];

test('with two disks short, one pod goes in a pass and the next only when its effect is measured', async (t) => {
  const world = emptyWorld('image-disk');
  putContainer(world, 'app-a', putPod(world, 'a', { volumeMib: 100 }), { state: 'running', mib: 1 });
  putContainer(world, 'app-b', putPod(world, 'b', { volumeMib: 1 }), { state: 'running', mib: 100 });
  world.disks.nodefs.fillUntilFree(50 * MIB);
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const node = new FakeNode(world, { thresholds: BOTH });
  const events = await node.pass();
  t.is(ofKind(events, 'eviction-decided').length, 1);
  t.is(ofKind(await node.pass(), 'eviction-decided').length, 1);
});

test('space that a collection for one disk freed on the other is waited for there too', async (t) => {
  const world = emptyWorld('image-disk');
  world.lateBy = 1_500;
  putContainer(world, 'dead', GONE, { mib: 80, logMib: 60 });
  putContainer(world, 'app', putPod(world, 'web', { volumeMib: 10 }), { state: 'running', mib: 10 });
  world.disks.nodefs.fillUntilFree(50 * MIB);
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const events = await new FakeNode(world, { thresholds: BOTH }).pass();
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  t.true(world.disks.imagefs.freeBytes >= 100 * MIB);
});

test('space still coming from an earlier pass is waited for before a pod goes', async (t) => {
  const world = emptyWorld();
  world.lateBy = 1_500;
  putContainer(world, 'dead', GONE, { mib: 60, logMib: 60 });
  putContainer(world, 'app', putPod(world, 'web', { volumeMib: 10 }), { state: 'running', mib: 10 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const node = new FakeNode(world, { thresholds: BOTH });
  const first = await node.pass();
  t.is(ofKind(first, 'reclaim-finished')[0]?.outcome, 'reached');
  // A writer takes as much as has come, so that the next pass finds nothing to remove, and space on its way.
  world.disks.imagefs.fillUntilFree(90 * MIB);
  const second = await node.pass();
  t.deepEqual(ofKind(second, 'eviction-decided'), []);
});

test('where inodes are short, what dead containers held is waited for before a pod goes', async (t) => {
  const world = emptyWorld();
  world.lateBy = 1_500;
  putContainer(world, 'dead', GONE, { mib: 0, inodes: 500 });
  putContainer(world, 'app', putPod(world, 'web'), { state: 'running', mib: 10, inodes: 500 });
  world.disks.nodefs.take({ bytes: 0, inodes: world.disks.nodefs.freeInodes - 800 });
  const events = await new FakeNode(world, { thresholds: [threshold('nodefs.inodesFree', '1000')] }).pass();
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  t.true(world.disks.nodefs.freeInodes >= 1_000);
});

test('small dead containers whose space comes late do not keep images from going before a pod does', async (t) => {
  const world = emptyWorld();
  world.lateBy = 600;
  for (let n = 0; n < 12; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 1, logPath: '' });
  putImage(world, 'unused', { mib: 100 });
  putContainer(world, 'app', putPod(world, 'web', { volumeMib: 100 }), { state: 'running', mib: 10 });
  world.disks.imagefs.fillUntilFree(20 * MIB);
  const events = await new FakeNode(world, { thresholds: BOTH }).pass();
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  t.deepEqual(ofKind(events, 'removed').filter(({ subject }) => subject.what === 'image').length, 1);
});

test('logs that are free at once are not taken for the layer that is still to come', async (t) => {
  const world = emptyWorld();
  world.lateBy = 600;
  putContainer(world, 'dead', GONE, { mib: 40, logMib: 45 });
  putContainer(world, 'app', putPod(world, 'web', { volumeMib: 10 }), { state: 'running', mib: 10 });
  world.disks.imagefs.fillUntilFree(20 * MIB);
  const events = await new FakeNode(world, { thresholds: BOTH }).pass();
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  t.is(ofKind(events, 'reclaim-finished')[0]?.outcome, 'reached');
});

test('what an image gives back at once is not taken for the layer that is still to come', async (t) => {
  const world = emptyWorld();
  world.lateBy = 600;
  putContainer(world, 'dead', GONE, { mib: 50 });
  putImage(world, 'unused', { mib: 25 });
  putContainer(world, 'app', putPod(world, 'web', { volumeMib: 10 }), { state: 'running', mib: 10 });
  world.disks.imagefs.fillUntilFree(10 * MIB);
  const events = await new FakeNode(world, { thresholds: BOTH }).pass();
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
});

test('after a kill that frees more than was known, the next pod goes only when the rest had time to come', async (t) => {
  const world = emptyWorld();
  world.lateBy = 1_500;
  for (const name of ['a', 'b']) {
    const facts = { state: 'running', mib: 50, logMib: 1, told: 'no-numbers' } as const;
    putContainer(world, `app-${name}`, putPod(world, name), facts);
  }
  world.disks.imagefs.fillUntilFree(80 * MIB);
  const node = new FakeNode(world, { thresholds: BOTH });
  const events = await node.passes(3);
  t.is(ofKind(events, 'eviction-decided').length, 1);
});
