import test from 'ava';
import { type PodFacts, readPod } from '../../../src/adapters/pods/pod-object.js';
import { faultText } from '../../../src/adapters/pods/value-reader.js';
import { podLimit, podRequest } from '../../../src/eviction/pod-resources.js';
import { milliseconds } from '../../../src/units/units.js';

const MIB = 1024 * 1024;

function factsOf(spec: object, metadata: object = {}, status: object = {}): PodFacts {
  const { facts, faults } = readPod({ metadata: { name: 'web', ...metadata }, spec, status });
  if (facts === null || faults.length > 0) throw new Error(faults.map(faultText).join('\n'));
  return facts;
}

const app = (requests: object, limits: object = {}, more: object = {}) => ({
  name: 'app',
  image: 'app:1',
  resources: { requests, limits },
  ...more,
});

test('requests are those of the whole pod: init containers, sidecars and overhead as the kubelet counts them', (t) => {
  const { spec, images } = factsOf({
    initContainers: [
      { ...app({ memory: '10Mi' }), restartPolicy: 'Always' },
      app({ memory: '95Mi' }, {}, { image: 'init:1' }),
    ],
    containers: [app({ memory: '40Mi', 'ephemeral-storage': '1Mi' }), app({ memory: '20Mi' })],
    ephemeralContainers: [{ name: 'debug', image: 'sh:1' }],
    overhead: { memory: '1Mi' },
  });
  // 10 + 95 while starting is more than 10 + 40 + 20 while running.
  t.is(spec && podRequest(spec, 'memory'), 106 * MIB);
  t.is(spec && podRequest(spec, 'ephemeral-storage'), 1 * MIB);
  t.deepEqual(images, ['app:1', 'init:1', 'app:1', 'app:1', 'sh:1']);
});

test('a request that is not given is taken from the limit of the same resource', (t) => {
  const { spec } = factsOf({ containers: [app({ memory: '5Mi' }, { memory: '9Mi', 'ephemeral-storage': '7Mi' })] });
  t.is(spec && podRequest(spec, 'memory'), 5 * MIB);
  t.is(spec && podRequest(spec, 'ephemeral-storage'), 7 * MIB);
  t.is(spec && podLimit(spec, 'ephemeral-storage'), 7 * MIB);
});

const wholePod = test.macro({
  exec(t, resources: object, containers: readonly object[], memory: number) {
    const { spec } = factsOf({ resources, containers });
    t.is(spec && podRequest(spec, 'memory'), memory);
  },
  title: (title) => title ?? '',
});

test(
  'a request for the pod as a whole counts alone',
  wholePod,
  { requests: { memory: '9Mi' } },
  [app({ memory: '3Mi' })],
  9 * MIB,
);
test(
  'with a limit for the whole, the containers together make the request',
  wholePod,
  { limits: { memory: '9Mi' } },
  [app({ memory: '3Mi' }), app({ memory: '2Mi' })],
  5 * MIB,
);
test(
  'with a limit for the whole and no request anywhere, the limit is it',
  wholePod,
  { limits: { memory: '9Mi' } },
  [app({})],
  9 * MIB,
);

test('volumes are told apart by what keeps them', (t) => {
  const { spec } = factsOf({
    containers: [],
    volumes: [
      { name: 'scratch', emptyDir: { sizeLimit: '64Mi' } },
      { name: 'shm', emptyDir: { medium: 'Memory' } },
      { name: 'bare' },
      { name: 'empty', emptyDir: null },
      { name: 'settings', configMap: { name: 'x' } },
      { name: 'host', hostPath: { path: '/' } },
      { name: 'claim', persistentVolumeClaim: { claimName: 'x' } },
    ],
  });
  t.deepEqual(
    spec?.volumes.map((each) => [
      each.name,
      each.kind,
      ...(each.kind === 'emptyDir' ? [each.medium, each.sizeLimit?.text] : []),
    ]),
    [
      ['scratch', 'emptyDir', '', '64Mi'],
      ['shm', 'emptyDir', 'Memory', undefined],
      ['bare', 'emptyDir', '', undefined],
      ['empty', 'emptyDir', '', undefined],
      ['settings', 'configMap'],
      ['host', 'hostPath'],
      ['claim', 'other'],
    ],
  );
});

test('tolerations keep the forms that the core asks about', (t) => {
  const { spec } = factsOf({
    containers: [],
    tolerations: [
      { operator: 'Exists' },
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'n', operator: 'Gt', value: '3' },
    ],
  });
  t.deepEqual(spec?.tolerations, [
    { key: null, operator: 'Exists', value: '', effect: null },
    { key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' },
  ]);
});

test('what a pod is and how it ends is read from all its parts', (t) => {
  t.like(
    factsOf(
      { containers: [], priority: -5, terminationGracePeriodSeconds: 60 },
      {
        uid: 'u',
        namespace: 'ns',
        deletionTimestamp: '2026-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 3,
        annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.mirror': 'h' },
      },
      { phase: 'Failed' },
    ),
    {
      uid: 'u',
      namespace: 'ns',
      source: 'file',
      isMirror: true,
      priority: -5,
      terminationGrace: milliseconds(60_000),
      deletionGrace: milliseconds(3_000),
      isBeingDeleted: true,
      phase: 'Failed',
    },
  );
});

const priority = test.macro({
  exec(t, spec: object, expected: number | null) {
    t.is(factsOf({ containers: [], ...spec }).priority, expected);
  },
  title: (_, spec: object, expected: number | null) => `${JSON.stringify(spec)} is the priority ${expected}`,
});

test(priority, { priorityClassName: 'system-node-critical' }, 2_000_001_000);
test(priority, { priorityClassName: 'system-cluster-critical' }, 2_000_000_000);
test(priority, { priorityClassName: 'system-node-critical', priority: 1 }, 1);
test(priority, { priorityClassName: 'gold' }, null);
test(priority, {}, null);

test('a negative grace is one second, as the API takes it', (t) => {
  t.is(factsOf({ containers: [], terminationGracePeriodSeconds: -9 }).terminationGrace, milliseconds(1_000));
});

interface Fault {
  readonly spec: unknown;
  readonly says: string;
}

const FAULTS: readonly Fault[] = [
  { spec: 'all', says: 'spec: Cannot use this value as it must be a map: all' },
  { spec: { priority: '7' }, says: 'spec.priority: Cannot use this value as it must be a whole number: 7' },
  { spec: { priority: 1e300 }, says: 'spec.priority: Cannot use this value as it must be a whole number: 1e+300' },
  { spec: { containers: {} }, says: 'spec.containers: Cannot use this value as it must be a list: a map' },
  { spec: { containers: [[]] }, says: 'spec.containers[0]: Cannot use this value as it must be a map: a list' },
  {
    spec: { containers: [app({ memory: '-1' })] },
    says: 'spec.containers[0].resources.requests.memory: Cannot use this value as it must not be negative: -1',
  },
  {
    spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: true } }] },
    says: 'spec.volumes[0].emptyDir.sizeLimit: Cannot use this value as it must be a quantity such as 100Mi: true',
  },
];

for (const { spec, says } of FAULTS) {
  test(`a wrong value is named by its place: ${says}`, (t) => {
    const { facts, faults } = readPod({ metadata: { name: 'web' }, spec });
    t.deepEqual(faults.map(faultText), [says]);
    t.is(facts?.name, 'web');
  });
}

test('half a spec is no spec, and the priority beside it stands', (t) => {
  const { facts } = readPod({ metadata: { name: 'w' }, spec: { priority: 9, containers: [app({ memory: '1Q' })] } });
  t.is(facts?.spec, null);
  t.is(facts?.priority, 9);
});

test('names that every object inherits are no fields of a pod', (t) => {
  const hostile: unknown = JSON.parse(
    '{"metadata":{"name":"w"},"spec":{"containers":[],"overhead":{"__proto__":"5","memory":"1"}}}',
  );
  const { facts, faults } = readPod(hostile);
  t.deepEqual(faults, []);
  t.deepEqual(Object.keys(facts?.spec?.overhead ?? {}), ['__proto__', 'memory']);
  t.is(({} as { nano?: unknown }).nano, undefined);
});
