import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { runPass } from '../../src/manager/cycle.js';
import { createManager } from '../../src/manager/manager.js';
import type { Stored } from '../../src/ports/store.js';
import { milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import { FakeStore } from '../fakes/fake-store.js';
import type { FakeWorld } from '../fakes/fake-world.js';
import { podSpec } from '../fakes/pod-spec.js';
import { emptyWorld, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const HARD = [threshold('imagefs.available', '100Mi', { minReclaim: '20Mi' })];
const SOFT = [threshold('imagefs.available', '100Mi', { graceSeconds: 60 })];

/** A node whose process can end without warning and begin anew. */
function lives(world: FakeWorld, wishes: Partial<NodeWishes> = {}) {
  const store = new FakeStore();
  const begin = () => new FakeNode(world, { thresholds: HARD, store, ...wishes });
  return { store, begin };
}

function writer(world: FakeWorld, name: string, mib = 60) {
  putContainer(world, `app-of-${name}`, putPod(world, name, { volumeMib: mib }), { state: 'running', mib: 0 });
}

const decided = (events: readonly EvictionEvent[]) => ofKind(events, 'eviction-decided').map(({ pod }) => pod.label);

/** Plays a pass until it has told that kind, and ends the process there. */
async function dieAt(node: FakeNode, kind: EvictionEvent['kind']): Promise<void> {
  const pass = runPass(node.deps, node.state, 'act', node.abort.signal);
  await node.world.clock.run(
    (async () => {
      for (;;) {
        const next = await pass.next();
        if (next.done === true) throw new Error(`Cannot die at ${kind} as the pass must tell it`);
        if (next.value.kind === kind) return;
      }
    })(),
  );
}

test('a condition survives a restart, also while the disk cannot be read, and ends when the target is measured', async (t) => {
  const world = emptyWorld();
  const { begin } = lives(world, { transitionPeriod: milliseconds(300_000) });
  world.disks.imagefs.fillUntilFree(90 * MIB);
  const first = begin();
  await first.pass();
  t.deepEqual(first.state.conditions, ['DiskPressure']);
  // Inside the band between line and target, where only the memory of having been short keeps it alive.
  world.disks.imagefs.fillUntilFree(110 * MIB);
  world.clock.skip(30_000);
  const second = begin();
  const look = second.mounts.look.bind(second.mounts);
  second.mounts.look = async (path) => ({ kind: 'error', path, at: world.clock.now(), message: 'EIO' });
  const blind = await second.pass();
  t.deepEqual(second.state.conditions, ['DiskPressure']);
  t.deepEqual(ofKind(blind, 'condition-on'), []);
  t.is(ofKind(blind, 'restored').length, 1);
  second.mounts.look = look;
  world.clock.skip(600_000);
  t.deepEqual(ofKind(await second.pass(), 'threshold-met'), []);
  t.deepEqual(second.state.conditions, ['DiskPressure']);
  world.disks.imagefs.fillUntilFree(130 * MIB);
  await second.pass();
  t.deepEqual(second.state.conditions, ['DiskPressure']);
  world.clock.skip(301_000);
  await second.pass();
  t.deepEqual(second.state.conditions, []);
});

test('a soft clock goes on over a restart', async (t) => {
  const world = emptyWorld();
  const { begin } = lives(world, { thresholds: SOFT });
  writer(world, 'web');
  world.disks.imagefs.fillUntilFree(90 * MIB);
  await begin().pass();
  world.clock.skip(50_000);
  const second = begin();
  t.deepEqual(decided(await second.pass()), []);
  world.clock.skip(10_000);
  t.deepEqual(decided(await second.pass()), ['default/web']);
});

test('a soft clock of a threshold that was changed meanwhile begins anew', async (t) => {
  const world = emptyWorld();
  const { store, begin } = lives(world, { thresholds: SOFT });
  writer(world, 'web');
  world.disks.imagefs.fillUntilFree(90 * MIB);
  await begin().pass();
  world.clock.skip(90_000);
  const changed = [threshold('imagefs.available', '110Mi', { graceSeconds: 60 })];
  const second = new FakeNode(world, { thresholds: changed, store });
  t.deepEqual(decided(await second.pass()), []);
});

test('after a death between choosing a pod and ending it that eviction is taken up, and no other pod goes', async (t) => {
  const world = emptyWorld();
  const { begin } = lives(world);
  writer(world, 'first', 80);
  writer(world, 'second', 60);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  await dieAt(begin(), 'eviction-decided');
  const second = begin();
  const events = await second.passes(20);
  t.deepEqual(decided(events), []);
  t.deepEqual(
    ofKind(events, 'pod-killed').map(({ pod, outcome }) => [pod.label, outcome.kind]),
    [['default/first', 'gone']],
  );
  t.true(world.containers.has('app-of-second'));
});

test('a pod that was told to end and did not is not chosen again after a restart', async (t) => {
  const world = emptyWorld();
  const { begin } = lives(world);
  writer(world, 'stays', 80);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const first = begin();
  first.runtime.fail('stopContainer', 'stuck');
  t.deepEqual(decided(await first.pass()), ['default/stays']);
  world.clock.skip(100_000);
  const second = begin();
  await second.pass();
  world.disks.imagefs.fillUntilFree(5 * MIB);
  t.deepEqual(decided(await second.passes(3)), []);
});

test('images go by their real last use after a restart, and one that nobody knew is young', async (t) => {
  const world = emptyWorld();
  const { begin } = lives(world, { minAge: milliseconds(120_000) });
  putImage(world, 'c-older', { mib: 10 });
  putContainer(world, 'one', null, { base: 'sha256:c-older', imageId: 'sha256:c-older', state: 'running', mib: 0 });
  putImage(world, 'b-newer', { mib: 10 });
  putContainer(world, 'two', null, { base: 'sha256:b-newer', imageId: 'sha256:b-newer', state: 'running', mib: 0 });
  world.disks.imagefs.fillUntilFree(500 * MIB);
  const first = begin();
  await first.pass();
  const detect = () => world.clock.run(first.deps.imageGC.detectImages(first.abort.signal));
  await detect();
  world.clock.skip(1_000);
  world.removeContainer('one');
  await detect();
  world.clock.skip(200_000);
  await detect();
  world.removeContainer('two');
  await detect();
  world.clock.skip(200_000);
  putImage(world, 'a-unknown', { mib: 10 });
  world.disks.imagefs.fillUntilFree(90 * MIB);
  const [plan] = ofKind(await begin().pass(), 'reclaim-planned');
  t.deepEqual(
    plan?.subjects.map(({ label }) => label),
    ['c-older:1', 'b-newer:1', 'a-unknown:1'],
  );
  t.regex(plan?.subjects[0]?.reason ?? '', /^last used 40\d s ago/);
});

test('an image that was in use when the process ended counts as used until the next one looks', async (t) => {
  const world = emptyWorld();
  const { begin, store } = lives(world);
  putImage(world, 'used', { mib: 10 });
  putContainer(world, 'one', null, { base: 'sha256:used', imageId: 'sha256:used', state: 'running', mib: 0 });
  const first = begin();
  await first.pass();
  await world.clock.run(first.deps.imageGC.detectImages(first.abort.signal));
  const before = store.saved.length;
  world.clock.skip(10_000);
  await world.clock.run(first.deps.imageGC.detectImages(first.abort.signal));
  t.is(store.saved.length, before, 'going on being used is no news');
  world.clock.skip(3_600_000);
  world.removeContainer('one');
  world.disks.imagefs.fillUntilFree(95 * MIB);
  const [plan] = ofKind(await begin().pass(), 'reclaim-planned');
  t.is(plan?.subjects[0]?.reason, 'last used 0 s ago');
});

test('an idle node saves nothing', async (t) => {
  const world = emptyWorld();
  const { begin, store } = lives(world);
  putImage(world, 'unused');
  world.disks.imagefs.fillUntilFree(500 * MIB);
  const node = begin();
  await node.pass();
  await world.clock.run(node.deps.imageGC.detectImages(node.abort.signal));
  const before = store.saved.length;
  await node.passes(10);
  await world.clock.run(node.deps.imageGC.detectImages(node.abort.signal));
  t.is(store.saved.length, before);
});

test('what we removed is remembered with its time, also over a restart, for an hour', async (t) => {
  const world = emptyWorld();
  const { begin, store } = lives(world);
  putImage(world, 'unused', { mib: 30 });
  world.disks.imagefs.fillUntilFree(95 * MIB);
  await begin().pass();
  t.deepEqual([...store.shelves['removed-images'].keys()], ['sha256:unused']);
  t.deepEqual([...store.shelves.images.keys()], []);
  world.clock.skip(3_600_000);
  await begin().pass();
  t.deepEqual([...store.shelves['removed-images'].keys()], []);
});

test('a store that cannot be read is said, and the node is protected all the same', async (t) => {
  const world = emptyWorld();
  const { begin, store } = lives(world);
  putImage(world, 'unused', { mib: 30 });
  world.disks.imagefs.fillUntilFree(95 * MIB);
  store.unreadable = 'Cannot open the state file as its directory must be writable: /var/lib/reclaimd';
  const events = await begin().pass();
  t.deepEqual(
    ofKind(events, 'store-trouble').map(({ trouble, message }) => [trouble, message]),
    [['unreadable', store.unreadable]],
  );
  t.is(world.images.size, 0);
});

test('entries that are not understood are said and passed over; the others count', async (t) => {
  const world = emptyWorld();
  const { begin, store } = lives(world);
  world.disks.imagefs.fillUntilFree(90 * MIB);
  await begin().pass();
  store.shelves.manager.set('told-to-end', { of: 'another version' });
  store.shelves.manager.set('from-the-future', [1]);
  store.shelves.images.set('sha256:odd', { seen: 'yesterday' });
  const second = begin();
  const events = await second.pass();
  t.regex(ofKind(events, 'store-trouble')[0]?.message ?? '', /^told-to-end: .*; 1 entries of images$/);
  t.deepEqual(ofKind(events, 'restored')[0]?.remembered.conditions, ['DiskPressure']);
});

test('a store that hangs holds up the first pass for two seconds; what it holds counts when it comes', async (t) => {
  const world = emptyWorld();
  const { begin, store } = lives(world);
  writer(world, 'stays', 80);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const first = begin();
  first.runtime.fail('stopContainer', 'stuck');
  await first.pass();
  world.disks.imagefs.fillUntilFree(130 * MIB);
  const saved = await store.load();
  let answer: (stored: Stored) => void = () => {};
  store.load = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const second = begin();
  const began = world.clock.now();
  const events = await second.pass();
  t.is(world.clock.now() - began, 2_000 + 100);
  t.deepEqual(ofKind(events, 'restored'), []);
  t.is((await second.pass()).length, 1);
  answer(saved);
  t.is(ofKind(await second.pass(), 'restored').length, 1);
  t.true(second.state.toldToEnd.has('stays'));
  t.deepEqual(second.state.conditions, [], 'what this life has seen itself counts more');
});

test('trouble of the store is told once, and its end', async (t) => {
  const { begin, store } = lives(emptyWorld());
  const node = begin();
  store.news.push({ kind: 'not-writing', isFull: true, message: 'database or disk is full' });
  t.deepEqual(
    ofKind(await node.pass(), 'store-trouble').map(({ trouble }) => trouble),
    ['full'],
  );
  t.deepEqual(ofKind(await node.pass(), 'store-trouble'), []);
  store.news.push({ kind: 'writing-again' });
  t.is(ofKind(await node.pass(), 'store-mended').length, 1);
});

test('before the first look nobody is let in: "not yet", or for a condition that is remembered; the kubelet lets them in', async (t) => {
  const world = emptyWorld();
  const { begin } = lives(world, { transitionPeriod: milliseconds(300_000) });
  const managerOf = (profile: 'reclaimd' | 'kubelet') =>
    createManager({
      ...begin().deps,
      thresholds: HARD,
      transitionPeriod: milliseconds(300_000),
      policy: POLICIES[profile],
      cadence: { slowest: milliseconds(1), fastest: milliseconds(1), assumedFillRate: 1 },
    });
  const pod = { isMirror: false, source: null, priority: 0, spec: podSpec() };
  const fresh = managerOf('reclaimd');
  t.deepEqual(fresh.admit(pod), { admitted: false, reason: 'NotYetLooked', conditions: [] });
  t.deepEqual(managerOf('kubelet').admit(pod), { admitted: true });
  world.disks.imagefs.fillUntilFree(90 * MIB);
  await world.clock.run(
    (async () => {
      for await (const _ of fresh.once('act'));
    })(),
  );
  t.like(fresh.admit(pod), { admitted: false, reason: 'Evicted' });
});
