import test from 'ava';
import type { FsLayout } from '../../src/eviction/layout.js';
import type { Signal } from '../../src/eviction/signal.js';
import type { ContainerProcesses, ContainerProcessesPort } from '../../src/ports/container-processes.js';
import { measurePods, type PodUsageDeps } from '../../src/reclaim/pod-usage.js';
import { bytes, count, instant, milliseconds } from '../../src/units/units.js';
import { FakeFiles } from '../fakes/fake-files.js';
import { FakePods } from '../fakes/fake-pods.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { PATHS } from '../fakes/fake-world.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

function scene() {
  const world = emptyWorld();
  const web = putPod(world, 'web', { volumeMib: 50 });
  putContainer(world, 'app', web, { state: 'running', mib: 20, logMib: 5, inodes: 7 });
  putContainer(world, 'app-before', web, { mib: 3, inodes: 2 });
  putContainer(world, 'secret', putPod(world, 'unknown'), { state: 'running', told: 'no-numbers', logPath: '' });
  const runtime = new FakeRuntime(world);
  const files = new FakeFiles(world);
  const deps = { runtime, files, clock: world.clock, podLogsDir: PATHS.logs, podVolumesDir: PATHS.volumes };
  const measureAll = async (signal: Signal, by: PodUsageDeps = deps, only: readonly string[] | null = null) => {
    const all = await new FakePods(world).list([...world.containers.values()], [...world.sandboxes.values()]);
    const meant = all.filter(({ uid }) => only === null || only.includes(uid));
    return world.clock.run(measurePods(by, meant, signal, layoutNow, new AbortController().signal));
  };
  let layoutNow: FsLayout = 'one-disk';
  const measure = async (signal: Signal, layout: FsLayout = 'one-disk') => {
    layoutNow = layout;
    return Object.fromEntries([...(await measureAll(signal))].map(([uid, { total }]) => [uid, total]));
  };
  return { world, runtime, files, deps, measure, measureAll };
}

const rows: readonly [layout: FsLayout, signal: Signal, mib: number][] = [
  ['one-disk', 'nodefs.available', 78],
  ['one-disk', 'imagefs.available', 78],
  ['image-disk', 'nodefs.available', 55],
  ['image-disk', 'imagefs.available', 23],
  ['image-disk', 'containerfs.available', 23],
  ['split-disks', 'nodefs.available', 78],
  ['split-disks', 'imagefs.available', 0],
];
for (const [layout, signal, mib] of rows) {
  test(`on ${layout}, ${signal} counts what lies there: ${mib} MiB`, async (t) => {
    t.is((await scene().measure(signal, layout))['web'], mib * MIB);
  });
}

test('inodes are counted where inodes are short', async (t) => {
  t.is((await scene().measure('nodefs.inodesFree'))['web'], 9 + 2 + 1);
});

test('a pod of which nobody knows anything is unknown, not empty', async (t) => {
  t.is((await scene().measure('nodefs.available'))['unknown'], null);
});

test('memory is what the running containers hold; of processes nobody tells', async (t) => {
  const { measure } = scene();
  t.is((await measure('memory.available'))['web'], MIB);
  t.deepEqual(await measure('pid.available'), {});
});

test('a pod without memory numbers is unknown', async (t) => {
  const { world, measure } = scene();
  putPod(world, 'asleep');
  t.is((await measure('memory.available'))['asleep'], null);
});

test('a directory that cannot be walked counts as nothing, and the rest still tells something', async (t) => {
  const { files, measure } = scene();
  files.broken.add(`${PATHS.volumes}/web/volumes/kubernetes.io~empty-dir`);
  t.is((await measure('nodefs.available'))['web'], 28 * MIB);
});

test('a runtime that does not answer leaves logs and volumes to go by, after a second', async (t) => {
  const { world, runtime, measure } = scene();
  runtime.latency = { listContainerUsage: 60_000 };
  const before = world.clock.now();
  t.is((await measure('nodefs.available'))['web'], 55 * MIB);
  t.is(world.clock.now() - before, 1_000);
});

test('walks are given a second, and those that hang are given up a tenth of a second later', async (t) => {
  const { world, files, measure } = scene();
  const walk = files.usage.bind(files);
  let wasTold = false;
  files.usage = async (path, most, signal, within) => {
    t.is(within, milliseconds(1_000));
    await world.clock.sleep(milliseconds(60_000), signal);
    wasTold ||= signal?.aborted === true;
    return walk(path, most, signal);
  };
  const before = world.clock.now();
  await measure('nodefs.available');
  t.true(wasTold);
  t.is(world.clock.now() - before, 1_100);
});

test('each source is told with who counted it and how old the number is', async (t) => {
  const { world, runtime, measureAll } = scene();
  const tell = runtime.listContainerUsage.bind(runtime);
  runtime.listContainerUsage = async (signal) => {
    const now = world.clock.wall();
    const aged = (await tell(signal)).map((each) => ({
      ...each,
      writableLayer: each.writableLayer === null ? null : { ...each.writableLayer, at: instant(now - 8_000) },
    }));
    return aged;
  };
  const usage = (await measureAll('nodefs.available')).get('web');
  t.deepEqual(
    usage?.parts.map(({ source, amount, by, age }) => [source, amount, by, age]),
    [
      ['layers', 20 * MIB, 'runtime', 8_000],
      ['dead-containers', 3 * MIB, 'runtime', 8_000],
      ['logs', 5 * MIB, 'walk', 0],
      ['emptyDirs', 50 * MIB, 'walk', 0],
    ] as unknown,
  );
});

test('a layer that is found is walked, and the runtime need not answer for it', async (t) => {
  const { world, runtime, files, measureAll, deps } = scene();
  runtime.latency = { listContainerUsage: 60_000 };
  world.containers.delete('app-before');
  const walk = files.usage.bind(files);
  files.usage = async (path, most, signal) =>
    path === '/layers/app/fs'
      ? { bytes: bytes(33 * MIB), inodes: count(4), complete: false }
      : walk(path, most, signal);
  const processes = lookOf({ app: { layerDirectory: '/layers/app/fs' } });
  const before = world.clock.now();
  const usage = (await measureAll('nodefs.available', { ...deps, processes }, ['web'])).get('web');
  t.like(usage?.parts[0], { source: 'layers', amount: 33 * MIB, by: 'walk', isComplete: false });
  t.is(usage?.total as number, 88 * MIB);
  t.is(world.clock.now(), before, 'nothing was waited for');
});

test('deleted files count that are held open on the starved device, and no others', async (t) => {
  const { measureAll, deps } = scene();
  const held = new Map([
    ['8:1', { bytes: 200 * MIB, inodes: 2 }],
    ['8:2', { bytes: 900 * MIB, inodes: 9 }],
  ]);
  const processes = lookOf({ app: { deletedOpen: held } });
  const here = { ...deps, processes, deviceOf: async () => '8:1' };
  t.is((await measureAll('nodefs.available', here)).get('web')?.total as number, 278 * MIB);
  t.is((await measureAll('nodefs.inodesFree', here)).get('web')?.total as number, 14);
  const unknown = { ...deps, processes, deviceOf: async () => null };
  t.is((await measureAll('nodefs.available', unknown)).get('web')?.total as number, 78 * MIB);
});

test('that the kernel cannot be asked about processes costs no other number', async (t) => {
  const { measureAll, deps } = scene();
  const processes = { look: () => Promise.reject(new Error('EIO')) };
  t.is((await measureAll('nodefs.available', { ...deps, processes })).get('web')?.total as number, 78 * MIB);
});

function lookOf(known: Readonly<Record<string, Partial<ContainerProcesses>>>): Pick<ContainerProcessesPort, 'look'> {
  return {
    look: async () =>
      new Map(
        Object.entries(known).map(([id, facts]) => [
          id,
          { layerDirectory: null, deletedOpen: new Map(), isComplete: true, ...facts },
        ]),
      ),
  };
}
