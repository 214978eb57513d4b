import test from 'ava';
import { RuntimeError } from '../../src/ports/runtime.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, GONE, MIB, putContainer, putImage } from '../fakes/scenery.js';

const HARD = [threshold('imagefs.available', '100Mi', { minReclaim: '20Mi' })];

/** A node on which nothing can be removed that a test calls stubborn. */
function nodeWith(stubborn: (id: string) => boolean, profile: 'reclaimd' | 'kubelet' = 'reclaimd') {
  const world = emptyWorld();
  const ids = ['first', 'second'].map((name) => putImage(world, name, { mib: 5 }));
  putContainer(world, 'dead', GONE, { mib: 1 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const node = new FakeNode(world, { thresholds: HARD, profile });
  const { runtime } = node;
  const removals: string[] = [];
  const guard = (remove: (id: string) => Promise<void>) => (id: string) => {
    removals.push(id);
    return stubborn(id)
      ? Promise.reject(new RuntimeError(`cannot unmount ${id}`, { kind: 'failed', call: 'Remove', target: id }))
      : remove(id);
  };
  runtime.removeImage = guard(runtime.removeImage.bind(runtime));
  runtime.removeContainer = guard(runtime.removeContainer.bind(runtime));
  return { node, world, ids, removals };
}

test('what could not be removed is left alone by the next passes, and tried again after two minutes', async (t) => {
  const { node, world, removals, ids } = nodeWith((id) => id !== 'dead');
  await node.passes(20);
  t.deepEqual(removals.toSorted(), ['dead', ...ids].toSorted());
  world.clock.skip(120_000);
  await node.pass();
  t.deepEqual(removals.slice(3).toSorted(), [...ids].toSorted());
});

test('one failure ends nothing: what comes after it goes', async (t) => {
  const [, second = ''] = nodeWith(() => false).ids;
  const { node, ids } = nodeWith((id) => id !== second);
  const events = await node.pass();
  t.true(ofKind(events, 'removed').some(({ subject }) => subject.id === second));
  t.deepEqual(
    ofKind(events, 'removal-failed')
      .map(({ subject }) => subject.id)
      .toSorted(),
    ['dead', ids[0]].toSorted(),
  );
});

test('the kubelet asks for it in every pass', async (t) => {
  const { node, removals } = nodeWith(() => true, 'kubelet');
  await node.passes(3);
  const [first = ''] = removals;
  t.is(removals.filter((each) => each === first).length, 3);
});
