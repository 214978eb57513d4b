import test from 'ava';
import { ReturnedImages } from '../../src/reclaim/returned-images.js';
import type { Instant } from '../../src/units/units.js';
import { at, threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, MIB, putImage } from '../fakes/scenery.js';

/** A breaker at a time that the test sets, in minutes; `seen` asks about the image, first seen at a minute. */
function scene(earlier: ReadonlyMap<string, Instant> = new Map()) {
  const time = { minutes: 0 };
  const returned = new ReturnedImages({ now: () => at(time.minutes * 60) }, () => earlier);
  const seen = (minute: number | null, id = 'a') =>
    returned.reason({ id, firstSeen: minute === null ? null : at(minute * 60) }) !== null;
  return { time, returned, seen };
}

test('an image that comes back within a quarter of an hour is kept until an hour after its removal', (t) => {
  const { time, returned, seen } = scene();
  returned.removed('a');
  time.minutes = 59;
  t.true(seen(1));
  t.true(seen(15));
  t.false(seen(16));
  time.minutes = 60;
  t.false(seen(1));
});

test('one that was never removed, or not seen since, is like any other', (t) => {
  const { time, returned, seen } = scene();
  t.false(seen(0));
  time.minutes = 5;
  returned.removed('a');
  t.false(seen(4));
  t.false(seen(null));
  t.false(seen(6, 'b'));
});

test('removals of an earlier life count', (t) => {
  const { time, seen } = scene(new Map([['a', at(0)]]));
  time.minutes = 10;
  t.true(seen(3));
});

test('each return is told once, and a new one again', (t) => {
  const { time, returned } = scene();
  const news = (minute: number) => returned.newly([{ id: 'a', firstSeen: at(minute * 60) }]).length;
  returned.removed('a');
  time.minutes = 2;
  t.is(news(1), 1);
  t.is(news(1), 0);
  returned.removed('a');
  t.is(returned.newly([]).length, 0);
  time.minutes = 4;
  t.is(news(3), 1);
});

test('under pressure an image that was pulled again is not removed again, and it is said', async (t) => {
  const world = emptyWorld();
  putImage(world, 'app', { mib: 50, tags: ['app:1'] });
  world.disks.imagefs.fillUntilFree(80 * MIB);
  const node = new FakeNode(world, { thresholds: [threshold('imagefs.available', '100Mi')] });
  t.is(ofKind(await node.pass(), 'removed').length, 1);
  world.clock.skip(60_000);
  const id = putImage(world, 'app', { mib: 50, tags: ['app:1'] });
  world.disks.imagefs.fillUntilFree(80 * MIB);
  const events = await node.passes(3);
  t.deepEqual(ofKind(events, 'removed'), []);
  t.deepEqual(
    ofKind(events, 'image-came-back').map((each) => each.id),
    [id],
  );
});
