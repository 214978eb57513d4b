import test from 'ava';
import { Notices } from '../../src/reclaim/notices.js';
import { RuntimeDeadlines } from '../../src/reclaim/runtime-deadlines.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

/** A node at rest, with a pod whose layer the runtime counts as larger than all that is in use. */
function scene() {
  const world = emptyWorld();
  putContainer(world, 'c', putPod(world, 'hog'), { state: 'running', mib: 700 });
  world.disks.nodefs.fillUntilFree(600 * MIB);
  const node = new FakeNode(world, { thresholds: [threshold('nodefs.available', '100Mi')] });
  const notices = new Notices(world.clock);
  const warnings = { clock: world.clock, notices, deadlines: new RuntimeDeadlines(notices) };
  const warned = new FakeNode(world, { thresholds: [threshold('nodefs.available', '100Mi')] });
  Object.assign(warned.deps, { warnings });
  return { world, node, warned };
}

test('a use that cannot be true is said while nothing presses, once, and nobody goes', async (t) => {
  const { world, warned } = scene();
  const first = await warned.pass();
  t.like(ofKind(first, 'usage-impossible')[0], { pod: { label: 'default/hog' }, usage: 700 * MIB });
  t.deepEqual(ofKind(first, 'eviction-decided'), []);
  world.clock.skip(61_000);
  t.deepEqual(ofKind(await warned.pass(), 'usage-impossible'), []);
});

test('use is read once a minute, and not in each of ten passes a second', async (t) => {
  const { world, warned } = scene();
  const reads = async () => ofKind(await warned.pass(), 'usage-checked').length;
  t.is(await reads(), 1);
  t.is(await reads(), 0);
  world.clock.skip(60_000);
  t.is(await reads(), 1);
});
