import test from 'ava';
import type { StorageLimits } from '../../src/manager/pass.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import { amounts, containerSpec, podSpec, podStats } from '../fakes/pod-spec.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

const SPEC = podSpec({
  containers: [
    containerSpec('app', { requests: amounts({ 'ephemeral-storage': '10Mi' }) }),
    containerSpec('log', { requests: amounts({ 'ephemeral-storage': '100Mi' }) }),
  ],
});
const container = (name: string, mib: number) => ({
  name,
  memoryWorkingSet: null,
  rootfs: { bytes: mib * MIB, inodes: null },
  logs: { bytes: 0, inodes: null },
});
const STATS = podStats({ containers: [container('app', 30), container('log', 40)] });

/** The event of the one eviction on a node that is short of space. */
async function decided(profile: 'kubelet' | 'reclaimd', measure: StorageLimits['measure']) {
  const world = emptyWorld();
  putContainer(world, 'app-of-web', putPod(world, 'web', { volumeMib: 70 }), { state: 'running' });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const node = new FakeNode(world, { thresholds: [threshold('imagefs.available', '100Mi')], profile });
  const { pods } = node.deps;
  Object.assign(node.deps, {
    storageLimits: { measure },
    pods: {
      list: async (...lists: Parameters<typeof pods.list>) =>
        (await pods.list(...lists)).map((each) => ({ ...each, spec: SPEC })),
    },
  });
  return ofKind(await node.pass(), 'eviction-decided')[0];
}

const KNOWN: StorageLimits['measure'] = async (pods) => new Map(pods.map(({ uid }) => [uid, STATS]));

test('the kubelet’s event names the containers above their request, and says that the pod was disrupted', async (t) => {
  const event = await decided('kubelet', KNOWN);
  t.deepEqual(event?.annotations, {
    starved_resource: 'ephemeral-storage',
    offending_containers: 'app',
    offending_containers_usage: '30Mi',
  });
  t.is(event?.graceOverrideSeconds, 1);
  t.is(event?.status?.disruption?.type, 'DisruptionTarget');
  t.is(event?.status?.message, event?.message);
});

test('a pod that cannot be measured goes all the same, and nobody is named', async (t) => {
  t.deepEqual((await decided('kubelet', async () => new Map()))?.annotations, {});
  t.deepEqual((await decided('kubelet', () => Promise.reject(new Error('EIO'))))?.annotations, {});
});

test('the reclaimd profile loses no time with that', async (t) => {
  const event = await decided('reclaimd', KNOWN);
  t.is(event?.pod.uid, 'web');
  t.is(event?.annotations, undefined);
});
