import test from 'ava';
import type { PodSpec } from '../../src/eviction/pod-spec.js';
import type { PodStats } from '../../src/eviction/pod-stats.js';
import type { StorageLimits } from '../../src/manager/pass.js';
import { parseQuantity } from '../../src/units/quantity.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import { podSpec, podStats } from '../fakes/pod-spec.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

const LIMITED = podSpec({
  volumes: [{ kind: 'emptyDir', name: 'cache', medium: '', sizeLimit: parseQuantity('10Mi') }],
});
const FULL = podStats({ volumes: [{ name: 'cache', use: { bytes: 11 * MIB, inodes: null } }] });

/** A node with three running pods, all over a limit of their own unless told otherwise. */
function scene(
  wishes: Partial<NodeWishes> = {},
  facts: { readonly spec?: PodSpec | null; readonly stats?: PodStats | null; readonly free?: number } = {},
) {
  const world = emptyWorld();
  for (const name of ['a', 'b', 'c']) {
    const pod = putPod(world, name, { namespace: name === 'b' ? 'kube-system' : 'default', volumeMib: 11 });
    putContainer(world, `app-of-${name}`, pod, { state: 'running' });
  }
  world.disks.imagefs.fillUntilFree((facts.free ?? 500) * MIB);
  const asked: string[][] = [];
  const storageLimits: StorageLimits = {
    measure: async (pods) => {
      asked.push(pods.map(({ name }) => name));
      return new Map(pods.map(({ uid }) => [uid, facts.stats === undefined ? FULL : facts.stats]));
    },
  };
  const node = new FakeNode(world, { thresholds: [threshold('imagefs.available', '100Mi')], ...wishes });
  const { pods } = node.deps;
  const spec = facts.spec === undefined ? LIMITED : facts.spec;
  const deps = {
    storageLimits,
    pods: {
      list: async (...lists: Parameters<typeof pods.list>) =>
        (await pods.list(...lists)).map((each) => ({ ...each, spec })),
    },
  };
  Object.assign(node.deps, deps);
  return { node, asked };
}

test('every pod over a limit of its own goes, one after the other, with a second of grace, and nothing else happens', async (t) => {
  const { node } = scene({}, { free: 50 });
  const events = await node.pass();
  const served = ofKind(events, 'storage-limit-served');
  t.deepEqual(
    served.map(({ pod, graceSeconds, outcome }) => `${pod.label} ${graceSeconds} ${outcome.kind}`),
    ['default/a 1 gone', 'kube-system/b 1 gone', 'default/c 1 gone'],
  );
  t.is(served[0]?.status.disruption, null);
  t.regex(served[0]?.status.message ?? '', /^volume cache: 11534336 B \(11.0 MiB\) used, more than its limit of 10Mi$/);
  t.true(ofKind(events, 'threshold-met').length > 0, 'the line is missed');
  t.deepEqual(ofKind(events, 'reclaim-started'), []);
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  t.deepEqual(node.world.pods.size, 3, 'only the API server takes pods off its list');
  t.deepEqual([...node.world.containers.values()], []);
});

test('a pod that was told to end is not told again', async (t) => {
  const { node } = scene();
  node.runtime.fail('stopContainer', 'stuck', 'app-of-a');
  const [first] = [ofKind(await node.pass(), 'storage-limit-served')];
  t.deepEqual(
    first?.map(({ outcome }) => outcome.kind),
    ['still-running', 'gone', 'gone'],
  );
  t.deepEqual(ofKind(await node.pass(), 'storage-limit-served'), []);
});

test('protected pods stay', async (t) => {
  const { node } = scene({ protectedNamespaces: ['kube-system'] });
  const served = ofKind(await node.pass(), 'storage-limit-served');
  t.deepEqual(
    served.map(({ pod }) => pod.uid),
    ['a', 'c'],
  );
  t.true(node.world.containers.has('app-of-b'));
});

test('a dry run says who is over its limit and touches nobody', async (t) => {
  const { node } = scene();
  const events = await node.pass('dry-run');
  t.is(ofKind(events, 'storage-limit-exceeded').length, 3);
  t.deepEqual(ofKind(events, 'storage-limit-served'), []);
  t.deepEqual(node.runtime.mutations, []);
});

const QUIET: readonly [
  title: string,
  wishes: Partial<NodeWishes>,
  facts: Parameters<typeof scene>[1],
  asks: boolean,
][] = [
  ['eviction is off', { evictionOff: 'a kubelet evicts here' }, {}, false],
  ['nobody knows what the pods’ authors wrote', {}, { spec: null }, false],
  ['no pod has a limit', {}, { spec: podSpec() }, false],
  ['what the pods use cannot be told', {}, { stats: null }, true],
];

for (const [title, wishes, facts, asks] of QUIET) {
  test(`nobody goes when ${title}${asks ? '' : ', and nobody is measured'}`, async (t) => {
    const { node, asked } = scene(wishes, facts);
    const events = await node.pass();
    t.deepEqual(ofKind(events, 'storage-limit-exceeded'), []);
    t.is(asked.length, asks ? 1 : 0);
  });
}

test('pods that cannot be listed are told, and the pass goes on', async (t) => {
  const { node } = scene({}, { free: 50 });
  node.pods.failure = new Error('the API server is away');
  const events = await node.pass();
  t.is(ofKind(events, 'list-failed')[0]?.what, 'the pods with limits of their own');
  t.deepEqual(ofKind(events, 'storage-limit-served'), []);
  t.deepEqual(ofKind(events, 'pass-failed'), []);
});

/** The pauses between looks at the limits, in `passes` passes `apart` milliseconds from each other. */
async function pauses(wishes: Partial<NodeWishes>, free: number, passes: number, apart: number) {
  const { node } = scene(wishes, { free, stats: null });
  const times: number[] = [];
  for (let pass = 0; pass < passes; pass += 1) {
    node.world.clock.skip(apart);
    for (const event of ofKind(await node.pass(), 'storage-limits-checked')) times.push(Number(event.at));
  }
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

test('with all well limits are looked at every ten seconds, not ten times a second', async (t) => {
  const seen = await pauses({}, 500, 300, 0);
  t.true(seen.length >= 2 && seen.every((pause) => pause >= 10_000 && pause < 10_500), seen.join(' '));
});

test('while a line is missed they are looked at every second', async (t) => {
  const seen = await pauses({ protectedNamespaces: ['default', 'kube-system'] }, 50, 60, 0);
  t.true(seen.length >= 3 && seen.every((pause) => pause >= 1_000 && pause < 5_000), seen.join(' '));
});

test('under the kubelet’s profile they are looked at in each pass', async (t) => {
  t.is((await pauses({ profile: 'kubelet' }, 500, 6, 1_000)).length, 5);
});

test('a list that fails is not asked for again ten times a second', async (t) => {
  const { node } = scene();
  node.pods.failure = new Error('the API server is away');
  const failures = [await node.pass(), await node.pass()].map((events) => ofKind(events, 'list-failed').length);
  t.deepEqual(failures, [1, 0]);
});
