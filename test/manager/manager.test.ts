import test from 'ava';
import { filter, firstValueFrom, take, toArray } from 'rxjs';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { createManager, type Manager } from '../../src/manager/manager.js';
import { milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode } from '../fakes/fake-node.js';
import { podSpec } from '../fakes/pod-spec.js';
import { emptyWorld, MIB, putImage } from '../fakes/scenery.js';

const LINE = [threshold('imagefs.available', '100Mi')];

function managed(): { readonly node: FakeNode; readonly manager: Manager } {
  const world = emptyWorld();
  putImage(world, 'unused', { mib: 60 });
  const node = new FakeNode(world, { thresholds: LINE });
  const manager = createManager({
    ...node.deps,
    thresholds: LINE,
    transitionPeriod: milliseconds(0),
    policy: POLICIES.reclaimd,
    cadence: { slowest: milliseconds(1), fastest: milliseconds(1), assumedFillRate: 1 },
  });
  return { node, manager };
}

const isLook = ({ kind }: EvictionEvent) => kind === 'observed';

/** The kinds of one pass by itself. */
async function kindsOf(node: FakeNode, pass: AsyncGenerator<EvictionEvent, void>): Promise<readonly string[]> {
  node.world.clock.skip(100);
  const kinds: string[] = [];
  await node.world.clock.run(
    (async () => {
      for await (const event of pass) kinds.push(event.kind);
    })(),
  );
  return kinds;
}

test('nothing runs until somebody subscribes; then passes follow each other, and stop ends them', async (t) => {
  const { node, manager } = managed();
  t.deepEqual(node.runtime.calls, []);
  t.is(manager.state.lookedAt, null);
  const story = firstValueFrom(manager.events$.pipe(toArray()));
  const looks = firstValueFrom(manager.events$.pipe(filter(isLook), take(3), toArray()));
  t.is((await looks).length, 3);
  t.is(manager.state.layout, 'one-disk');
  manager.stop();
  t.true((await story).filter(isLook).length >= 3);
});

test('a wake is taken at any time', async (t) => {
  const { manager } = managed();
  const looks = firstValueFrom(manager.events$.pipe(filter(isLook), take(2), toArray()));
  manager.wake();
  t.is((await looks).length, 2);
  manager.stop();
});

test('one pass by itself can be asked for: a dry run changes nothing, the next one acts', async (t) => {
  const { node, manager } = managed();
  node.world.disks.imagefs.fillUntilFree(50 * MIB);
  t.true((await kindsOf(node, manager.once('dry-run'))).includes('would-remove'));
  t.deepEqual(node.runtime.mutations, []);
  t.true((await kindsOf(node, manager.once('act'))).includes('removed'));
  t.is(node.world.images.size, 0);
});

test('a fault of our own is told as a failed pass, and the next pass goes on', async (t) => {
  const { node, manager } = managed();
  const look = node.mounts.look.bind(node.mounts);
  node.mounts.look = () => Promise.reject(new Error('a fault of our own'));
  const events: EvictionEvent[] = [];
  await node.world.clock.run(
    (async () => {
      for await (const event of manager.once('act')) events.push(event);
    })(),
  );
  t.deepEqual(
    events.map((event) => (event.kind === 'pass-failed' ? event.message : event.kind)),
    ['a fault of our own'],
  );
  node.mounts.look = look;
  t.true((await kindsOf(node, manager.once('act'))).includes('observed'));
});

test('what a pass had told before it failed is kept', async (t) => {
  const { node, manager } = managed();
  node.world.disks.imagefs.fillUntilFree(50 * MIB);
  node.runtime.beforeEffect = ({ call }) => {
    if (call !== 'removeImage') return;
    node.mounts.look = () => Promise.reject(new Error('a fault of our own'));
  };
  const kinds = await kindsOf(node, manager.once('act'));
  t.is(kinds.at(-1), 'pass-failed');
  t.is(manager.state.layout, 'one-disk');
});

test('when the layout changes, containerfs takes its thresholds from the disk it lies on now', async (t) => {
  const { node, manager } = managed();
  await kindsOf(node, manager.once('act'));
  const look = node.mounts.look.bind(node.mounts);
  node.mounts.look = async (path) => {
    const seen = await look(path);
    return path.startsWith('/var/lib/runtime') && seen.kind === 'reading' ? { ...seen, device: '8:9' } : seen;
  };
  t.true((await kindsOf(node, manager.once('act'))).includes('layout-changed'));
  t.is(manager.state.layout, 'image-disk');
  await kindsOf(node, manager.once('act'));
  t.is(manager.state.layout, 'image-disk');
});

test('whether a pod is let in goes by the conditions that are reported now', async (t) => {
  const { node, manager } = managed();
  const pod = { isMirror: false, source: null, priority: 0, spec: podSpec() };
  await kindsOf(node, manager.once('act'));
  t.deepEqual(manager.admit(pod), { admitted: true });
  node.world.disks.imagefs.fillUntilFree(1 * MIB);
  await kindsOf(node, manager.once('dry-run'));
  t.deepEqual(manager.admit(pod), { admitted: false, reason: 'Evicted', conditions: ['DiskPressure'] });
});
