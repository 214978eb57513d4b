import test from 'ava';
import type { FsLayout } from '../../src/eviction/layout.js';
import type { Signal } from '../../src/eviction/signal.js';
import { measurePods } from '../../src/reclaim/pod-usage.js';
import { milliseconds } from '../../src/units/units.js';
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
  const measure = async (signal: Signal, layout: FsLayout = 'one-disk') => {
    const all = await new FakePods(world).list([...world.containers.values()], [...world.sandboxes.values()]);
    const usage = await world.clock.run(measurePods(deps, all, signal, layout, new AbortController().signal));
    return Object.fromEntries(usage);
  };
  return { world, runtime, files, measure };
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

test('walks that take too long are told to end', async (t) => {
  const { world, files, measure } = scene();
  const walk = files.usage.bind(files);
  let wasTold = false;
  files.usage = async (path, most, signal) => {
    await world.clock.sleep(milliseconds(60_000), signal);
    wasTold ||= signal?.aborted === true;
    return walk(path, most, signal);
  };
  const before = world.clock.now();
  await measure('nodefs.available');
  t.true(wasTold);
  t.is(world.clock.now() - before, 1_000);
});
