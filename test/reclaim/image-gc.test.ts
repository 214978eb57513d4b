import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { ImageClaims } from '../../src/reclaim/image-claims.js';
import { createImageGC, type ImageGcDeps } from '../../src/reclaim/image-gc.js';
import { milliseconds } from '../../src/units/units.js';
import { told } from '../fakes/collect-events.js';
import { ofKind } from '../fakes/fake-node.js';
import { runFor } from '../fakes/fake-run.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import type { FakeWorld } from '../fakes/fake-world.js';
import { emptyWorld, GONE, MIB, putContainer, putImage } from '../fakes/scenery.js';

function collectorOf(world: FakeWorld, wishes: Partial<ImageGcDeps> = {}) {
  const runtime = new FakeRuntime(world);
  const gc = createImageGC({
    runtime,
    clock: world.clock,
    minAge: milliseconds(0),
    sandboxImage: null,
    protectedImages: [],
    ...wishes,
  });
  const collect = (mib: number, more: Parameters<typeof runFor>[2] = {}) =>
    world.clock.run(told(gc.deleteUnusedImages(runFor(world, mib * MIB, more))));
  return { runtime, gc, collect };
}

function removed(events: readonly EvictionEvent[]): readonly string[] {
  return ofKind(events, 'removed').map((event) => event.subject.label);
}

test('images go, least recently used first, until the target is measured', async (t) => {
  const world = emptyWorld();
  for (const name of ['a', 'b', 'c', 'd']) putImage(world, name, { mib: 20 });
  putContainer(world, 'last-user-of-a', GONE, { base: 'sha256:a', mib: 0 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { gc, collect } = collectorOf(world);
  await gc.detectImages(new AbortController().signal);
  world.removeContainer('last-user-of-a');
  world.clock.skip(1_000);
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { events, result } = await collect(100);
  t.deepEqual(removed(events), ['b:1', 'c:1']);
  t.is(result.outcome, 'reached');
});

test('an image in use, pinned, protected or of the sandboxes stays, whatever the pressure', async (t) => {
  const world = emptyWorld();
  for (const name of ['used', 'mounted', 'keep', 'pause', 'unused']) putImage(world, name);
  putImage(world, 'pinned', { pinned: true });
  putContainer(world, 'dead-user', GONE, { base: 'sha256:used' });
  putContainer(world, 'mounts', GONE, { imageVolumes: ['mounted:1'] });
  const { collect } = collectorOf(world, { sandboxImage: 'pause:1', protectedImages: ['keep:*'] });
  const { events, result } = await collect(999);
  t.deepEqual(removed(events), ['unused:1']);
  t.is(result.outcome, 'exhausted');
  t.is(world.images.size, 5);
});

test('an image that comes into use between plan and removal is skipped', async (t) => {
  const world = emptyWorld();
  for (const name of ['a', 'b']) putImage(world, name, { mib: 20 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { runtime, collect } = collectorOf(world);
  let lists = 0;
  runtime.beforeEffect = ({ call }) => {
    if (call !== 'listContainers') return;
    lists += 1;
    if (lists === 2) putContainer(world, 'newcomer', GONE, { state: 'running', base: 'sha256:a', mib: 0 });
  };
  const { events } = await collect(90);
  t.deepEqual(removed(events), ['b:1']);
  t.deepEqual(
    ofKind(events, 'removal-skipped').map(({ subject, why }) => [subject.label, why]),
    [['a:1', 'used by container newcomer']],
  );
});

test('the mounts of a container are asked for once in its life', async (t) => {
  const world = emptyWorld();
  putImage(world, 'a');
  for (let n = 0; n < 20; n += 1) putContainer(world, `c-${n}`, GONE, { state: 'running' });
  const { runtime, gc } = collectorOf(world);
  const { signal } = new AbortController();
  await gc.detectImages(signal);
  await gc.detectImages(signal);
  t.is(runtime.targetsOf('containerStatus').length, 20);
  world.removeContainer('c-0');
  putContainer(world, 'c-0', GONE, { state: 'running' });
  world.removeContainer('c-1');
  await gc.detectImages(signal);
  putContainer(world, 'c-1', GONE, { state: 'running' });
  await gc.detectImages(signal);
  t.is(runtime.targetsOf('containerStatus').length, 21);
});

test('a container that is gone before its mounts are asked for has none', async (t) => {
  const world = emptyWorld();
  putImage(world, 'a');
  putContainer(world, 'short-lived', GONE, { imageVolumes: ['a:1'] });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.beforeEffect = ({ call }) => {
    if (call === 'containerStatus') world.removeContainer('short-lived');
  };
  t.deepEqual(removed((await collect(900)).events), ['a:1']);
});

test('a status that fails otherwise than by absence keeps every image, and is told', async (t) => {
  const world = emptyWorld();
  putImage(world, 'a');
  putContainer(world, 'secretive', GONE, { state: 'running' });
  const { runtime, collect } = collectorOf(world);
  runtime.fail('containerStatus', 'failed');
  const { events, result } = await collect(999);
  t.is(result.outcome, 'runtime-failed');
  t.deepEqual(
    ofKind(events, 'list-failed').map(({ what }) => what),
    ['images and their users'],
  );
  t.is(world.images.size, 1);
});

test('a reference that names no image protects nothing, and is told', async (t) => {
  const world = emptyWorld();
  putImage(world, 'a');
  putContainer(world, 'lost', GONE, { state: 'running', image: 'nowhere:1' });
  const { collect } = collectorOf(world);
  const { events } = await collect(999);
  t.deepEqual(
    ofKind(events, 'image-reference-unresolved').map(({ reference, container }) => [reference, container]),
    [['nowhere:1', 'lost']],
  );
});

test('an image below the minimum age goes last under hard pressure, and stays under soft', async (t) => {
  const world = emptyWorld();
  putImage(world, 'old');
  const { gc, collect } = collectorOf(world, { minAge: milliseconds(120_000) });
  await gc.detectImages(new AbortController().signal);
  world.clock.skip(120_000);
  putImage(world, 'new');
  const soft = await gc.planUnusedImages(runFor(world, 999 * MIB, { isHard: false }));
  t.deepEqual(
    soft.map(({ item, verdict }) => [item.id, verdict.kind]),
    [
      ['sha256:old', 'goes'],
      ['sha256:new', 'stays'],
    ],
  );
  t.deepEqual(removed((await collect(999)).events), ['old:1', 'new:1']);
});

test('images that share their layers are removed until the last sharer gives the space back', async (t) => {
  const world = emptyWorld();
  const layers = [{ id: 'shared', bytes: 30 * MIB, inodes: 10 }];
  for (const name of ['a', 'b', 'c']) putImage(world, name, { layers });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { events, result } = await collectorOf(world).collect(100);
  t.deepEqual(removed(events), ['a:1', 'b:1', 'c:1']);
  t.is(result.outcome, 'reached');
});

test('images go in batches no larger than is needed, as far as is known', async (t) => {
  const world = emptyWorld();
  for (let n = 0; n < 8; n += 1) putImage(world, `i-${n}`, { mib: 30 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.latency = { removeImage: 10 };
  const { events } = await collect(150);
  t.is(runtime.mostAtOnce, 2);
  t.is(removed(events).length, 2);
});

test('an image is named by its tag, else by its digest, else by its id', async (t) => {
  const world = emptyWorld();
  putImage(world, 'tagged');
  putImage(world, 'digested', { tags: [], digests: ['repo@sha256:0123'] });
  putImage(world, 'bare', { tags: [] });
  const { events } = await collectorOf(world).collect(999);
  t.deepEqual([...removed(events)].sort(), ['repo@sha256:0123', 'sha256:bare', 'tagged:1']);
});

test('users that cannot be listed anew keep the images of the batch', async (t) => {
  const world = emptyWorld();
  putImage(world, 'a');
  const { runtime, collect } = collectorOf(world);
  let lists = 0;
  runtime.beforeEffect = ({ call }) => {
    if (call === 'listContainers') lists += 1;
    if (lists === 1) runtime.fail('listContainers', 'unavailable');
  };
  const { events, result } = await collect(999);
  t.is(result.outcome, 'runtime-lost');
  t.is(ofKind(events, 'list-failed').length, 1);
  t.is(world.images.size, 1);
});

test('a target that is missed while rules keep unused images is told with their number', async (t) => {
  const world = emptyWorld();
  for (const name of ['keep', 'unused', 'used']) putImage(world, name, { mib: 20 });
  putContainer(world, 'user', GONE, { base: 'sha256:used' });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { collect } = collectorOf(world, { protectedImages: ['keep:*', 'used:*', 'typo:*'] });
  const { events } = await collect(999);
  t.deepEqual(
    ofKind(events, 'protected-images-hold-space').map(({ images, claimed }) => [images, claimed]),
    [[1, 20 * MIB]],
  );
  t.deepEqual(
    ofKind(events, 'protect-pattern-unused').map(({ pattern }) => pattern),
    ['typo:*'],
  );
  const again = await collect(999);
  t.deepEqual(ofKind(again.events, 'protected-images-hold-space'), []);
  t.deepEqual(ofKind(again.events, 'protect-pattern-unused'), []);
});

test('a target that is reached says nothing of what rules keep', async (t) => {
  const world = emptyWorld();
  for (const name of ['keep', 'unused']) putImage(world, name, { mib: 20 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { collect } = collectorOf(world, { protectedImages: ['keep:*'] });
  const { events, result } = await collect(60);
  t.is(result.outcome, 'reached');
  t.deepEqual(ofKind(events, 'protected-images-hold-space'), []);
});

test('an image that a pod wants stays, also when the pod comes between plan and removal', async (t) => {
  const world = emptyWorld();
  for (const name of ['a', 'b', 'c']) putImage(world, name, { mib: 20 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  let asked = 0;
  const claims = new ImageClaims({
    runtime: new FakeRuntime(world),
    wanted: () => {
      asked += 1;
      return Promise.resolve((asked === 1 ? ['a:1'] : ['a:1', 'b:1']).map((reference) => ({ pod: 'd/p', reference })));
    },
  });
  const { collect } = collectorOf(world, { claims });
  const { events } = await collect(999);
  t.deepEqual(removed(events), ['c:1']);
  t.deepEqual(
    ofKind(events, 'removal-skipped').map(({ subject, why }) => [subject.label, why]),
    [['b:1', 'wanted by pod d/p']],
  );
});
