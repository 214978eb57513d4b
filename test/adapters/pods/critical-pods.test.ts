import test, { type ExecutionContext } from 'ava';
import { combinedPods } from '../../../src/adapters/pods/combined-pods.js';
import type { EvictionEvent } from '../../../src/eviction/event.js';
import { INITIAL_STATE } from '../../../src/eviction/state.js';
import { runPass } from '../../../src/manager/cycle.js';
import { milliseconds } from '../../../src/units/units.js';
import { threshold } from '../../fakes/builders.js';
import { FakeNode, ofKind } from '../../fakes/fake-node.js';
import { emptyWorld, MIB, putContainer, putPod } from '../../fakes/scenery.js';
import { apiPod, kubeletEndpoint, listing } from './kubelet-endpoint.js';

/** On a busy machine an answer may take long without being late. */
const limits = { timeout: milliseconds(30_000), maxBytes: 1 << 20 };

/** A pass over a node that is short of space and has nothing to collect, with pods that only the runtime and a kubelet know. */
async function passOver(
  t: ExecutionContext,
  pods: Readonly<Record<string, { readonly mib: number; readonly spec: object }>>,
): Promise<readonly EvictionEvent[]> {
  const world = emptyWorld();
  for (const [name, { mib }] of Object.entries(pods)) {
    const pod = putPod(world, name);
    putContainer(world, `app-of-${name}`, pod, { state: 'running', mib: 0, logMib: mib });
  }
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const node = new FakeNode(world, { thresholds: [threshold('imagefs.available', '100Mi')] });
  const items = [...world.pods.values()].map(({ uid, namespace, name }) =>
    apiPod(name, pods[name]?.spec, { metadata: { uid, namespace } }),
  );
  const endpoint = await kubeletEndpoint(t, listing(...items));
  const combined = combinedPods({ podsFrom: endpoint.url, staticPodPath: null, clock: world.clock, limits });
  // Virtual time cannot wait for a real connection: the answer to this question serves the pass.
  await combined.list([], []);
  const events: EvictionEvent[] = [];
  await world.clock.run(
    (async () => {
      const pass = runPass({ ...node.deps, pods: combined }, INITIAL_STATE, 'act', node.abort.signal);
      for await (const event of pass) events.push(event);
    })(),
  );
  return events;
}

const chosen = (events: readonly EvictionEvent[]) =>
  ofKind(events, 'eviction-decided').map(({ pod }) => pod.label.split('/').at(-1));

test('without a priority the pod that uses most goes', async (t) => {
  t.deepEqual(chosen(await passOver(t, { large: { mib: 200, spec: {} }, small: { mib: 60, spec: {} } })), ['large']);
});

for (const spec of [{ priority: 2_000_000_000 }, { priorityClassName: 'system-node-critical' }]) {
  test(`a pod with ${JSON.stringify(spec)} is never chosen, however much it uses`, async (t) => {
    const events = await passOver(t, { large: { mib: 200, spec }, small: { mib: 60, spec: {} } });
    t.deepEqual(chosen(events), ['small']);
    const standing = ofKind(events, 'eviction-decided')[0]?.ranking.find(({ label }) => label.endsWith('large'));
    t.regex(standing?.protectedBy ?? '', /^critical priority 200000\d000$/);
  });
}

test('the highest priority below the critical ones may go', async (t) => {
  const spec = { priority: 1_999_999_999 };
  t.deepEqual(chosen(await passOver(t, { large: { mib: 200, spec } })), ['large']);
});

test('where all pods are critical nobody goes, and that is said', async (t) => {
  const events = await passOver(t, { large: { mib: 200, spec: { priority: 2_000_001_000 } } });
  t.deepEqual(chosen(events), []);
  t.regex(ofKind(events, 'helpless')[0]?.reason ?? '', /critical priority 2000001000/);
});

test('a pod within what it requested goes after one that is over, though it uses more', async (t) => {
  const within = { containers: [{ name: 'a', resources: { requests: { 'ephemeral-storage': '1Gi' } } }] };
  t.deepEqual(chosen(await passOver(t, { large: { mib: 200, spec: within }, small: { mib: 60, spec: {} } })), [
    'small',
  ]);
});

test('a source that fails is told in the pass', async (t) => {
  const world = emptyWorld();
  const node = new FakeNode(world, { thresholds: [] });
  const pods = combinedPods({ podsFrom: null, staticPodPath: '/nonexistent/manifests', clock: world.clock });
  await pods.list([], []);
  const events: EvictionEvent[] = [];
  for await (const event of runPass({ ...node.deps, pods }, INITIAL_STATE, 'act', node.abort.signal))
    events.push(event);
  t.deepEqual(
    ofKind(events, 'list-failed').map(({ what }) => what),
    ['the static pods in /nonexistent/manifests'],
  );
});
