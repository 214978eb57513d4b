import test from 'ava';
import { threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

/** A full node with a pod that is said to use more than all there is in use, and an honest one. */
function node(profile: 'reclaimd' | 'kubelet') {
  const world = emptyWorld();
  const liar = putPod(world, 'liar');
  putContainer(world, 'app-of-liar', liar, { state: 'running', mib: 1_200 });
  const honest = putPod(world, 'honest', { volumeMib: 300 });
  putContainer(world, 'app-of-honest', honest, { state: 'running', mib: 0 });
  world.disks.nodefs.fillUntilFree(50 * MIB);
  return new FakeNode(world, { thresholds: [threshold('nodefs.available', '100Mi')], profile });
}

test('a use above all that the filesystem has in use is no number: the pod counts as unknown, and it is said', async (t) => {
  const events = await node('reclaimd').pass();
  const [impossible] = ofKind(events, 'usage-impossible');
  t.like(impossible, {
    code: 'IMPOSSIBLE_USAGE',
    pod: { uid: 'liar', label: 'default/liar' },
    usage: 1_200 * MIB,
    inUse: 950 * MIB,
  });
  const [decided] = ofKind(events, 'eviction-decided');
  t.is(decided?.pod.uid, 'honest');
  t.is(decided?.ranking.find(({ uid }) => uid === 'liar')?.usage, null);
});

test('the kubelet takes such a number as it is told', async (t) => {
  const events = await node('kubelet').pass();
  t.deepEqual(ofKind(events, 'usage-impossible'), []);
  t.is(ofKind(events, 'eviction-decided')[0]?.pod.uid, 'liar');
});
