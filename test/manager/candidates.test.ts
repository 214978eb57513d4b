import test from 'ava';
import type { ProfileName } from '../../src/eviction/policy.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, MIB, putPod } from '../fakes/scenery.js';

const LINE = threshold('nodefs.available', '100Mi');

/** Who is evicted from a full disk, of a pod in kube-system of this priority and one elsewhere that holds less. */
async function evictedWith(priority: number | null, profile: ProfileName = 'reclaimd'): Promise<readonly string[]> {
  const world = emptyWorld();
  putPod(world, 'system', { namespace: 'kube-system', priority, volumeMib: 600 });
  putPod(world, 'app', { volumeMib: 300 });
  world.disks.nodefs.fillUntilFree(50 * MIB);
  const events = await new FakeNode(world, { thresholds: [LINE], profile }).pass();
  return ofKind(events, 'eviction-decided').map(({ pod }) => pod.label);
}

test('a pod of kube-system stays where nobody tells its priority, and goes like any other where it is told', async (t) => {
  t.deepEqual(await evictedWith(null), ['default/app']);
  t.deepEqual(await evictedWith(0), ['kube-system/system']);
});

test('in the kubelet profile a priority that nobody tells is none', async (t) => {
  t.deepEqual(await evictedWith(null, 'kubelet'), ['kube-system/system']);
});
