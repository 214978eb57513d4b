import test from 'ava';
import type { PodRecord } from '../../src/ports/pods.js';
import { createPodMeter } from '../../src/reclaim/pod-meter.js';
import { bytes, count } from '../../src/units/units.js';
import { FakeFiles } from '../fakes/fake-files.js';
import { FakePods } from '../fakes/fake-pods.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { PATHS } from '../fakes/fake-world.js';
import { type FakeWriter, FakeWriters } from '../fakes/fake-writers.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

const never = new AbortController().signal;

function scene(writers: readonly Omit<FakeWriter, 'container'>[], isCounting = true, layersAreFound = true) {
  const world = emptyWorld();
  for (const { uid } of writers) {
    putContainer(world, `app-of-${uid}`, putPod(world, uid, { volumeMib: 10 }), { state: 'running', mib: 1 });
  }
  const counts = new FakeWriters(
    world,
    writers.map((each) => ({ ...each, container: `app-of-${each.uid}` })),
  );
  const files = new FakeFiles(world);
  const walk = files.usage.bind(files);
  let walks = 0;
  files.usage = async (...asked) => {
    counts.settle();
    walks += 1;
    if (asked[0].startsWith('/layers/')) return { bytes: bytes(MIB), inodes: count(1), complete: true };
    return walk(...asked);
  };
  const look = async (ids: readonly string[]) =>
    new Map(
      ids.map((id) => {
        const layerDirectory = layersAreFound ? `/layers/${id}` : null;
        return [id, { layerDirectory, deletedOpen: new Map(), isComplete: true }] as const;
      }),
    );
  const deps = {
    runtime: new FakeRuntime(world),
    files,
    clock: world.clock,
    podLogsDir: PATHS.logs,
    podVolumesDir: PATHS.volumes,
    processes: { look },
  };
  const meter = createPodMeter(deps, isCounting ? counts : null);
  const list = (): Promise<readonly PodRecord[]> =>
    new FakePods(world).list([...world.containers.values()], [...world.sandboxes.values()]);
  const rates = async (fillRate: number, signal: 'nodefs.available' | 'nodefs.inodesFree' = 'nodefs.available') => {
    const pods = await list();
    await world.clock.run(meter.measure(pods, signal, 'one-disk', never));
    walks = 0;
    const told = await world.clock.run(meter.writes(pods, signal, 'one-disk', fillRate, never));
    return Object.fromEntries(
      [...told].map(([uid, { perSecond, by }]) => [uid, `${Math.round(perSecond / MIB)} ${by}`]),
    );
  };
  return { world, meter, counts, list, rates, walks: () => walks };
}

test('a writer is told by the growth of its files, and nobody else is walked twice', async (t) => {
  const { rates, walks } = scene([
    { uid: 'writer', perSecond: 90 * MIB },
    { uid: 'quiet', perSecond: 0 },
  ]);
  t.deepEqual(await rates(90 * MIB), { writer: '90 growth', quiet: '0 processes' });
  t.is(walks(), 3, 'layer, logs and volumes of one pod');
});

test('one that overwrites its files, or writes to another disk, fills nothing', async (t) => {
  const { rates } = scene([
    { uid: 'database', perSecond: 90 * MIB, grows: false },
    { uid: 'writer', perSecond: 9 * MIB },
  ]);
  t.deepEqual(await rates(9 * MIB), { database: '0 growth', writer: '9 growth' });
});

test('where a layer cannot be walked the larger number holds: what was written may lie there', async (t) => {
  const { rates } = scene([{ uid: 'database', perSecond: 90 * MIB, grows: false }], true, false);
  t.deepEqual(await rates(90 * MIB), { database: '90 processes' });
});

test('where the counts do not explain what the disk loses, everybody is walked twice: a runtime writes the logs', async (t) => {
  const { rates } = scene([
    { uid: 'chatty', perSecond: 90 * MIB, isCounted: false },
    { uid: 'writer', perSecond: 9 * MIB },
  ]);
  t.deepEqual(await rates(99 * MIB), { chatty: '90 growth', writer: '9 growth' });
});

test('where nobody counts, growth alone tells', async (t) => {
  const { rates } = scene([{ uid: 'writer', perSecond: 90 * MIB }], false);
  t.deepEqual(await rates(90 * MIB), { writer: '90 growth' });
});

test('on a disk that loses nothing nobody is walked twice and nothing more is waited for than the counts', async (t) => {
  const { rates, walks, world } = scene([{ uid: 'idle', perSecond: 10 }]);
  const before = world.clock.now();
  await rates(0);
  t.is(walks(), 0);
  t.is(world.clock.now() - before, 200);
});

test('of inodes nobody keeps counts, so everybody is walked twice', async (t) => {
  const { rates, walks } = scene([{ uid: 'writer', perSecond: 0 }]);
  t.deepEqual(await rates(0, 'nodefs.inodesFree'), { writer: '0 growth' });
  t.is(walks(), 3);
});

test('what was measured ahead of the crossing saves the wait', async (t) => {
  const { meter, list, rates, walks, world } = scene([{ uid: 'writer', perSecond: 90 * MIB }]);
  meter.watch(never);
  meter.prime(list, 'imagefs.available', 'one-disk', never);
  await world.clock.pass(400);
  const before = world.clock.now();
  t.deepEqual(await rates(90 * MIB), { writer: '90 growth' });
  t.is(world.clock.now(), before);
  t.is(walks(), 0);
});

test('what was measured of another disk, too long ago, or without a pod that runs now is compared with nothing', async (t) => {
  for (const [layout, pause, isNew] of [
    ['image-disk', 400, false],
    ['one-disk', 6_000, false],
    ['one-disk', 400, true],
  ] as const) {
    const { meter, list, rates, walks, world } = scene([{ uid: 'writer', perSecond: 9 * MIB }]);
    const known = isNew ? async () => [] : list;
    meter.prime(known, 'imagefs.available', layout, never);
    await world.clock.pass(pause);
    t.deepEqual(await rates(9 * MIB), { writer: '9 growth' });
    t.is(walks(), 3);
  }
});

test('a measuring ahead is made once in a while, and a choice cuts it short', async (t) => {
  const { meter, list, world } = scene([{ uid: 'writer', perSecond: 9 * MIB }]);
  let lists = 0;
  const counted = () => {
    lists += 1;
    return list();
  };
  for (let tick = 0; tick < 12; tick += 1) {
    meter.prime(counted, 'nodefs.available', 'one-disk', never);
    await world.clock.pass(100);
  }
  t.is(lists, 2);
});
