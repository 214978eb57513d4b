import test, { type ExecutionContext } from 'ava';
import { criPods } from '../../../src/adapters/pods/cri-pods.js';
import type { PodRecord } from '../../../src/ports/pods.js';
import type { ContainerRecord, SandboxRecord } from '../../../src/ports/runtime.js';
import { instant, milliseconds } from '../../../src/units/units.js';

const POD = { uid: 'u1', namespace: 'default', name: 'web' };
const LABELS = {
  'io.kubernetes.pod.uid': 'u1',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.name': 'web',
};

function sandbox(facts: Partial<SandboxRecord> = {}): SandboxRecord {
  return {
    id: 's1',
    pod: POD,
    attempt: 0,
    state: 'ready',
    createdAt: instant(1000),
    runtimeHandler: '',
    labels: LABELS,
    annotations: {},
    ...facts,
  };
}

function container(facts: Partial<ContainerRecord> = {}): ContainerRecord {
  return {
    id: 'c1',
    sandboxId: 's1',
    name: 'app',
    attempt: 0,
    state: 'running',
    createdAt: instant(2000),
    imageId: 'sha256:i',
    imageRef: 'sha256:i',
    image: 'app:1',
    runtimeHandler: '',
    pod: POD,
    labels: LABELS,
    annotations: {},
    ...facts,
  };
}

async function onlyPod(
  t: ExecutionContext,
  containers: readonly ContainerRecord[],
  sandboxes: readonly SandboxRecord[],
): Promise<PodRecord> {
  const pods = await criPods().list(containers, sandboxes);
  t.is(pods.length, 1);
  const [pod] = pods;
  if (pod === undefined) throw new Error('no pod');
  return pod;
}

test('a pod is made of its sandboxes and containers; what CRI does not tell is unknown', async (t) => {
  const annotations = { 'kubernetes.io/config.source': 'api', other: 'x' };
  const labels = { ...LABELS, app: 'web' };
  const s1 = sandbox({ annotations, labels });
  const c1 = container({ annotations: { 'io.kubernetes.pod.terminationGracePeriod': '30' } });
  t.deepEqual(await onlyPod(t, [c1], [s1]), {
    ...POD,
    source: 'api',
    isMirror: false,
    priority: null,
    storageRequest: null,
    memoryRequest: null,
    terminationGrace: milliseconds(30_000),
    isFinished: false,
    containers: [c1],
    sandboxes: [s1],
    annotations,
    labels,
  });
});

test('nothing listed is no pods', async (t) => {
  t.deepEqual(await criPods().list([], []), []);
});

const source = test.macro({
  async exec(t, annotations: Record<string, string>, expected: PodRecord['source'], isMirror: boolean) {
    const pod = await onlyPod(t, [], [sandbox({ annotations })]);
    t.is(pod.source, expected);
    t.is(pod.isMirror, isMirror);
  },
  title: (_, annotations) => `annotations ${JSON.stringify(annotations)}`,
});
test(source, { 'kubernetes.io/config.source': 'file' }, 'file', false);
test(source, { 'kubernetes.io/config.source': 'http' }, 'http', false);
test(source, { 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.mirror': 'hash' }, 'api', true);
test(source, {}, null, false);
// A word that is none of the kubelet's, and one that every object knows.
test(source, { 'kubernetes.io/config.source': 'carrier pigeon' }, null, false);
test(source, { 'kubernetes.io/config.source': 'constructor' }, null, false);

const grace = test.macro({
  async exec(t, text: string | null, expected: number | null) {
    const annotations = text === null ? {} : { 'io.kubernetes.pod.terminationGracePeriod': text };
    const pod = await onlyPod(t, [container({ annotations })], [sandbox()]);
    t.is(pod.terminationGrace, expected === null ? null : milliseconds(expected));
  },
  title: (_, text) => `a termination grace of ${JSON.stringify(text)}`,
});
test(grace, '0', 0);
test(grace, '3600', 3_600_000);
test(grace, null, null);
test(grace, '', null);
test(grace, '-1', null);
test(grace, '1.5', null);
test(grace, '30s', null);
test(grace, '99999999999999999999', null);

test('the grace is taken from the newest container that has one', async (t) => {
  const withGrace = (id: string, createdAt: number, text: string) =>
    container({ id, createdAt: instant(createdAt), annotations: { 'io.kubernetes.pod.terminationGracePeriod': text } });
  const containers = [
    withGrace('old', 1, '10'),
    withGrace('new', 3, '20'),
    container({ id: 'newest', createdAt: instant(4) }),
  ];
  t.is((await onlyPod(t, containers, [])).terminationGrace, milliseconds(20_000));
});

test('of several sandboxes the last attempt describes the pod, whatever the clock said', async (t) => {
  const first = sandbox({
    id: 'a',
    attempt: 0,
    state: 'notready',
    createdAt: instant(9000),
    annotations: { made: 'first' },
  });
  const second = sandbox({ id: 'b', attempt: 1, createdAt: instant(1000), annotations: { made: 'again' } });
  const pod = await onlyPod(t, [], [first, second]);
  t.deepEqual(
    pod.sandboxes.map(({ id }) => id),
    ['b', 'a'],
  );
  t.deepEqual(pod.annotations, { made: 'again' });
});

const finished = test.macro(
  async (
    t: ExecutionContext,
    containers: readonly ContainerRecord[],
    sandboxes: readonly SandboxRecord[],
    is: boolean,
  ) => {
    t.is((await onlyPod(t, containers, sandboxes)).isFinished, is);
  },
);
const exited = container({ state: 'exited' });
const down = sandbox({ state: 'notready' });
test('a pod whose sandbox and containers are down is finished', finished, [exited], [down], true);
test('a pod of which only dead containers are left is finished', finished, [exited], [], true);
test('a pod with its sandbox up is not: a container may start again', finished, [exited], [sandbox()], false);
test('a pod with a new sandbox up is not', finished, [exited], [down, sandbox({ id: 's2', attempt: 1 })], false);
test('a pod with a running container is not', finished, [container()], [down], false);
test('a pod with a created container is not', finished, [container({ state: 'created' })], [down], false);
test('a pod with a container in an unknown state is not', finished, [container({ state: 'unknown' })], [down], false);
test(
  "a pod with somebody else's container in its sandbox is not: it would be killed with it",
  finished,
  [exited, container({ id: 'c2', pod: null, labels: {} })],
  [down],
  false,
);

test('a container without pod labels belongs to no pod', async (t) => {
  t.deepEqual(await criPods().list([container({ pod: null, labels: {} })], []), []);
  const pod = await onlyPod(t, [container(), container({ id: 'c2', pod: null, labels: {} })], [sandbox()]);
  t.deepEqual(
    pod.containers.map(({ id }) => id),
    ['c1'],
  );
});

test('a sandbox made by hand is no pod, unless containers say that they are of it', async (t) => {
  const byHand = sandbox({ labels: {} });
  t.deepEqual(await criPods().list([], [byHand]), []);
  t.deepEqual((await onlyPod(t, [container()], [byHand])).sandboxes, [byHand]);
});

test('containers whose sandbox is gone still make their pod', async (t) => {
  const pod = await onlyPod(t, [exited], []);
  t.is(pod.name, 'web');
  t.is(pod.namespace, 'default');
  t.is(pod.source, null);
});

test('pods of one name and different uids are different pods', async (t) => {
  const again = { ...POD, uid: 'u2' };
  const pods = await criPods().list([container(), container({ id: 'c2', pod: again })], []);
  t.deepEqual(
    pods.map(({ uid }) => uid),
    ['u1', 'u2'],
  );
});
