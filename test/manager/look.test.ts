import test from 'ava';
import type { FsLayout } from '../../src/eviction/layout.js';
import { createLooker } from '../../src/manager/look.js';
import type { ImageFsInfo } from '../../src/ports/runtime.js';
import { bytes } from '../../src/units/units.js';
import { FakeMounts } from '../fakes/fake-mounts.js';
import { FakeNodeStats } from '../fakes/fake-node-stats.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { type FakeWorld, PATHS } from '../fakes/fake-world.js';
import { emptyWorld } from '../fakes/scenery.js';

function lookerOn(world: FakeWorld) {
  const mounts = new FakeMounts(world);
  const runtime = new FakeRuntime(world);
  const nodeStats = new FakeNodeStats(() => world.clock.now());
  const looker = createLooker({ mounts, runtime, nodeStats, clock: world.clock, rootDir: PATHS.root });
  const look = () => world.clock.run(looker.look());
  return { mounts, runtime, looker, look };
}

for (const layout of ['one-disk', 'image-disk', 'split-disks'] as const) {
  test(`the layout is told by devices: ${layout}`, async (t) => {
    const seen = await lookerOn(emptyWorld(layout)).look();
    t.is(seen.layout, layout);
    t.is(seen.problem, null);
    t.deepEqual(seen.fallbacks, []);
  });
}

test('filesystems on one device get one reading, though the disk fills between two looks', async (t) => {
  const world = emptyWorld('one-disk');
  const mounts = new FakeMounts(world);
  let taken = 0;
  const looker = createLooker({
    mounts: {
      async look(path) {
        const seen = await mounts.look(path);
        taken += 4096;
        return seen.kind === 'reading' ? { ...seen, available: bytes(seen.available - taken) } : seen;
      },
    },
    runtime: new FakeRuntime(world),
    nodeStats: new FakeNodeStats(() => world.clock.now()),
    clock: world.clock,
    rootDir: PATHS.root,
  });
  const { observations } = (await world.clock.run(looker.look())).sight;
  const nodefs = observations.get('nodefs.available')?.available;
  t.not(nodefs, undefined);
  t.is(observations.get('imagefs.available')?.available, nodefs);
  t.is(observations.get('containerfs.available')?.available, nodefs);
});

test('with the runtime down at the start nodefs and memory are seen, and the layout is not', async (t) => {
  const { runtime, look } = lookerOn(emptyWorld());
  runtime.isDown = true;
  const seen = await look();
  t.is(seen.layout, null);
  t.regex(seen.problem ?? '', /imagefs: the runtime does not say where images lie: .*unavailable/);
  t.true(seen.sight.observations.has('nodefs.available'));
  t.true(seen.sight.observations.has('memory.available'));
  t.false(seen.sight.observations.has('imagefs.available'));
});

test('a runtime that was down is asked again after a second, and not before', async (t) => {
  const world = emptyWorld();
  const { runtime, look } = lookerOn(world);
  runtime.isDown = true;
  await look();
  runtime.isDown = false;
  world.clock.skip(900);
  t.is((await look()).layout, null);
  world.clock.skip(100);
  t.is((await look()).layout, 'one-disk');
});

test('a runtime that hangs holds the first look up for half a second only', async (t) => {
  const world = emptyWorld();
  const { runtime, look } = lookerOn(world);
  runtime.latency = { imageFsInfo: 60_000 };
  const before = world.clock.now();
  const seen = await look();
  t.is(world.clock.now() - before, 500);
  t.regex(seen.problem ?? '', /has not said yet/);
  await look();
  t.is(runtime.calls.length, 1);
});

test('each look asks where the paths are, and once told they hold while the runtime is away', async (t) => {
  const world = emptyWorld('image-disk');
  const { runtime, look } = lookerOn(world);
  await look();
  await look();
  t.is(runtime.calls.length, 2);
  runtime.isDown = true;
  t.is((await look()).layout, 'image-disk');
  t.is(runtime.calls.length, 3);
});

test('a data directory that moves is seen by the next look', async (t) => {
  const { runtime, look } = lookerOn(emptyWorld('image-disk'));
  t.is((await look()).layout, 'image-disk');
  const moved = [{ ...somewhere, mountpoint: PATHS.root }];
  runtime.imageFsInfo = async () => ({ imageFilesystems: moved, containerFilesystems: [] });
  t.is((await look()).layout, 'one-disk');
});

test('a runtime that begins to hang holds a later look up for a moment only, and is not asked twice at a time', async (t) => {
  const world = emptyWorld('image-disk');
  const { runtime, look } = lookerOn(world);
  await look();
  runtime.latency = { imageFsInfo: 60_000 };
  const before = world.clock.now();
  t.is((await look()).layout, 'image-disk');
  t.is(world.clock.now() - before, 50);
  await look();
  t.is(world.clock.now() - before, 50);
  t.is(runtime.calls.length, 2);
});

test('a path that the runtime reports and that is missing is watched by its nearest parent', async (t) => {
  const { mounts, look } = lookerOn(emptyWorld('image-disk'));
  mounts.odd.set(PATHS.images, 'missing');
  const seen = await look();
  t.deepEqual(seen.fallbacks, [{ path: PATHS.images, used: '/var/lib/runtime' }]);
  t.is(seen.layout, 'image-disk');
});

test('the search for a parent ends at the root', async (t) => {
  const { mounts, look } = lookerOn(emptyWorld());
  for (const path of [PATHS.images, '/var/lib/runtime', '/var/lib', '/var', '/']) mounts.odd.set(path, 'missing');
  const seen = await look();
  t.is(seen.layout, null);
  t.regex(seen.problem ?? '', /imagefs: \/ does not exist/);
});

test('a missing root directory is no reason to watch another disk', async (t) => {
  const { mounts, look } = lookerOn(emptyWorld());
  mounts.odd.set(PATHS.root, 'missing');
  const seen = await look();
  t.regex(seen.problem ?? '', /nodefs: .*does not exist/);
  t.deepEqual(seen.fallbacks, []);
});

for (const [oddity, words] of [
  ['hung', /does not answer/],
  ['error', /input\/output error/],
] as const) {
  test(`a mount that is ${oddity} leaves the layout unknown, and says why`, async (t) => {
    const { mounts, look } = lookerOn(emptyWorld());
    mounts.odd.set(PATHS.images, oddity);
    const seen = await look();
    t.is(seen.layout, null);
    t.regex(seen.problem ?? '', words);
    t.true(seen.sight.observations.has('containerfs.available'));
  });
}

const nowhere = { mountpoint: null, usedBytes: null, inodesUsed: null, at: null };
const somewhere = { ...nowhere, mountpoint: PATHS.images };
const answers: readonly [title: string, info: ImageFsInfo, layout: FsLayout | null][] = [
  ['names nothing', { imageFilesystems: [], containerFilesystems: [] }, null],
  ['names no mount point', { imageFilesystems: [nowhere], containerFilesystems: [] }, null],
  ['names no filesystem for containers', { imageFilesystems: [somewhere], containerFilesystems: [] }, 'image-disk'],
];
for (const [title, info, layout] of answers) {
  test(`a runtime that ${title}: ${layout ?? 'no layout'}`, async (t) => {
    const { runtime, look } = lookerOn(emptyWorld('image-disk'));
    runtime.imageFsInfo = async () => info;
    const seen = await look();
    t.is(seen.layout, layout);
    if (layout === null) t.regex(seen.problem ?? '', /names no image filesystem/);
  });
}

test('one filesystem alone can be looked at, between removals', async (t) => {
  const { mounts, looker, look } = lookerOn(emptyWorld());
  t.is((await looker.lookAt('imagefs')).kind, 'error');
  await look();
  const before = mounts.looks;
  t.is((await looker.lookAt('imagefs')).kind, 'reading');
  t.is(mounts.looks, before + 1);
});
