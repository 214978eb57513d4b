import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import type { FakeWorld } from '../fakes/fake-world.js';
import { emptyWorld, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const FAR = [threshold('imagefs.available', '5Mi')];

/** Ten looks, a second apart, of a disk that loses 4 MiB between two of them and has 60 MiB left in the end. */
async function watchFilling(wishes: Partial<NodeWishes>, furnish: (world: FakeWorld) => void) {
  const world = emptyWorld();
  furnish(world);
  const node = new FakeNode(world, { thresholds: FAR, ...wishes });
  const events: EvictionEvent[] = [];
  for (let look = 10; look >= 1; look -= 1) {
    if (ofKind(events, 'removed').length > 0) break;
    world.disks.imagefs.fillUntilFree((56 + 4 * look) * MIB);
    world.clock.skip(900);
    events.push(...(await node.pass()));
  }
  return { node, events };
}

function images(world: FakeWorld): void {
  for (let n = 0; n < 5; n += 1) putImage(world, `unused-${n}`, { mib: 10 });
}

test('a disk that will soon be full has its garbage collected before any line is met', async (t) => {
  const { events } = await watchFilling({ fullWithin: milliseconds(20_000) }, images);
  const [ahead] = ofKind(events, 'collecting-ahead');
  t.is(Math.round((ahead?.forecast.rate ?? 0) / MIB), 4);
  const [finished] = ofKind(events, 'reclaim-finished');
  t.is(finished?.outcome, 'reached');
  t.deepEqual(ofKind(events, 'threshold-met'), []);
  // 4 MiB a second for 20 s and a quarter longer are 100 MiB: with what is left that takes four images at most.
  const removed = ofKind(events, 'removed').length;
  t.true(removed >= 1 && removed <= 4, `${removed} removed`);
});

test('no pod goes ahead of a line, even when garbage is not enough', async (t) => {
  const { events } = await watchFilling({ fullWithin: milliseconds(30_000) }, (world) => {
    const pod = putPod(world, 'writer', { volumeMib: 100 });
    putContainer(world, 'app', pod, { state: 'running', mib: 0 });
    putImage(world, 'unused', { mib: 1 });
  });
  t.is(ofKind(events, 'collecting-ahead').length, 1);
  t.is(ofKind(events, 'reclaim-finished')[0]?.outcome, 'exhausted');
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
});

test('an image below the minimum age stays when it is collected ahead', async (t) => {
  const wishes = { fullWithin: milliseconds(20_000), minAge: milliseconds(60_000) };
  const { events } = await watchFilling(wishes, images);
  t.is(ofKind(events, 'collecting-ahead').length, 1);
  t.deepEqual(ofKind(events, 'removed'), []);
});

test('without being asked for nothing is collected, and the forecast is told all the same', async (t) => {
  const { events } = await watchFilling({}, images);
  t.true(ofKind(events, 'will-be-full').length > 0);
  t.deepEqual(ofKind(events, 'removed'), []);
});

test('a dry run tells and removes nothing', async (t) => {
  const { node } = await watchFilling({}, images);
  const told = await node.pass('dry-run');
  t.deepEqual(ofKind(told, 'removed'), []);
});
