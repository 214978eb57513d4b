import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import type { OwnerScope } from '../../src/gc/owner-scope.js';
import { dockerEraGcRun } from '../../src/manager/docker-era-run.js';
import { instant, milliseconds } from '../../src/units/units.js';
import { LogTree } from '../conformance/fakes/log-tree.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import type { FakeWorld } from '../fakes/fake-world.js';
import { emptyWorld, GONE, putContainer, putPod, putSandbox } from '../fakes/scenery.js';

const MINUTE = 60_000;
const LINKS = '/var/log/containers';

/** One run over a world in which the pods that were put are known. Two dead ones of a name are kept, as in those days. */
async function collect(
  world: FakeWorld,
  more: { isCareful?: boolean; ownerScope?: OwnerScope; tree?: LogTree; runtime?: FakeRuntime } = {},
) {
  const { isCareful = true, ownerScope = 'all', tree = new LogTree(), runtime = new FakeRuntime(world) } = more;
  const run = dockerEraGcRun(
    {
      runtime,
      clock: world.clock,
      logs: { remove: async () => undefined },
      keepsUnverified: isCareful,
      files: tree,
      logFiles: tree,
      podLogsDir: '/var/log/pods',
      logLinksDir: LINKS,
      answers: async () => ({
        allSourcesReady: true,
        contentMayBeRemoved: (uid) => !world.pods.has(uid),
        runtimeMayBeRemoved: () => false,
      }),
      limits: { minAge: milliseconds(0), maxPerPodContainer: 2, maxContainers: null },
      createdCountsAsDead: !isCareful,
      ownerScope,
    },
    isCareful,
  );
  const events: GcEvent[] = [];
  const message = await world.clock.run(
    (async () => {
      const story = run(new AbortController().signal);
      for (;;) {
        const next = await story.next();
        if (next.done === true) return next.value;
        events.push(next.value);
      }
    })(),
  );
  const collected = events.flatMap((event) => (event.kind === 'collected' ? [event.subject.id] : []));
  return { events, message, collected, runtime };
}

/** A pod with three dead sandboxes beside the one that its server runs in. */
function podWithOldSandboxes(world: FakeWorld) {
  const pod = putPod(world, 'web');
  putContainer(world, 'server', pod, { state: 'running' });
  for (const attempt of [1, 2, 3]) {
    putSandbox(world, pod, { id: `old-${attempt}`, state: 'notready', createdAt: attempt * 1_000 });
  }
  world.clock.skip(10 * MINUTE);
  return pod;
}

test('sandboxes count as containers under the same limit, and all dead ones lose their network at every run', async (t) => {
  const world = emptyWorld();
  podWithOldSandboxes(world);
  const { collected, runtime, message } = await collect(world);
  t.is(message, null);
  t.deepEqual(collected, ['old-1']);
  t.deepEqual([...runtime.targetsOf('stopSandbox')].toSorted(), ['old-1', 'old-2', 'old-3']);
  t.true(world.sandboxes.has('sandbox-web') && world.containers.has('server'));
});

test('a sandbox that a container is in stays with its network, whatever it says of itself', async (t) => {
  const world = emptyWorld();
  const sandbox = putSandbox(world, GONE, { state: 'notready' });
  putContainer(world, 'alive', GONE, { state: 'running' });
  world.clock.skip(10 * MINUTE);
  const { collected, runtime } = await collect(world, { isCareful: false });
  t.deepEqual(collected, []);
  t.deepEqual(runtime.mutations, []);
  t.true(world.sandboxes.has(sandbox) && world.containers.has('alive'));
});

test('one that a container has come into since the list is left at the last look', async (t) => {
  const world = emptyWorld();
  putSandbox(world, GONE, { state: 'notready' });
  world.clock.skip(10 * MINUTE);
  const runtime = new FakeRuntime(world);
  runtime.beforeEffect = ({ call }) => {
    if (call === 'stopSandbox') putContainer(world, 'late', GONE, { state: 'running' });
  };
  const { events, collected } = await collect(world, { runtime });
  t.deepEqual(collected, []);
  t.like(
    events.find((event) => event.kind === 'spared'),
    { why: 'a container is in it now' },
  );
  t.true(world.containers.has('late'));
});

test('dead containers of gone pods go, and those of a live pod beyond the limit, oldest first', async (t) => {
  const world = emptyWorld();
  const pod = putPod(world, 'web');
  for (const age of [1, 2, 3, 4])
    putContainer(world, `job-${age}`, pod, { name: 'job', createdAt: instant(age * 1_000) });
  putContainer(world, 'left', GONE);
  world.clock.skip(10 * MINUTE);
  t.deepEqual((await collect(world)).collected, ['left', 'job-1', 'job-2']);
});

for (const [isCareful, gone] of [
  [true, []],
  [false, ['by-hand', 'made']],
] as const) {
  test(`${isCareful ? 'carefully' : 'to the letter'}: what belongs to no pod, and what was made a moment ago`, async (t) => {
    const world = emptyWorld();
    putContainer(world, 'by-hand', null);
    putContainer(world, 'made', GONE, { state: 'created', createdAt: world.clock.wall() });
    putContainer(world, 'unclear', GONE, { state: 'unknown' });
    const { collected } = await collect(world, { isCareful });
    t.deepEqual([...collected].toSorted(), gone);
    t.true(world.containers.has('unclear'), 'it may run');
  });
}

for (const [isCareful, left] of [
  [true, true],
  [false, false],
] as const) {
  test(`a link without a target ${left ? 'stays while its container runs' : 'goes unasked'}`, async (t) => {
    const world = emptyWorld();
    putContainer(world, 'abcdef123456', putPod(world, 'web'), { state: 'running' });
    const tree = new LogTree();
    const link = `${LINKS}/web_default_server-abcdef123456.log`;
    tree.files.set(link, '');
    tree.deadLinks.add(link);
    const { collected } = await collect(world, { isCareful, tree });
    t.deepEqual(collected, left ? [] : [link]);
  });
}

test('where only what gone pods have left may go, the limits of live ones do not hold', async (t) => {
  const world = emptyWorld();
  podWithOldSandboxes(world);
  putContainer(world, 'left', GONE);
  t.deepEqual((await collect(world, { ownerScope: 'gone-pods' })).collected, ['left']);
});

test('a network that cannot be torn down is told and keeps nothing else', async (t) => {
  const world = emptyWorld();
  podWithOldSandboxes(world);
  putContainer(world, 'left', GONE);
  const runtime = new FakeRuntime(world);
  runtime.fail('stopSandbox', 'failed', 'old-2');
  const { events, collected } = await collect(world, { runtime });
  t.deepEqual(collected, ['left', 'old-1']);
  t.like(
    events.find((event) => event.kind === 'gc-step-failed'),
    { step: 'tearing down the network of old-2' },
  );
});

test('a runtime that does not list fails the run, and the logs are still looked after', async (t) => {
  const world = emptyWorld();
  const runtime = new FakeRuntime(world);
  runtime.fail('listContainers', 'failed');
  const tree = new LogTree();
  tree.directories = ['/var/log/pods/default_gone_11111111-2222-3333-4444-555555555555'];
  const { message, collected } = await collect(world, { runtime, tree });
  t.regex(message ?? '', /^containers: Cannot listContainers/);
  t.deepEqual(collected, tree.treeRemovals);
  t.is(collected.length, 1);
});
