import test from 'ava';
import {
  containerRecord,
  containerStatusRecord,
  containerUsage,
  imageRecord,
  instantOf,
  runtimeFilesystem,
  sandboxRecord,
} from '../../../src/adapters/cri/records.js';
import type { ContainerUsage } from '../../../src/ports/runtime.js';
import {
  Container,
  ContainerStats,
  ContainerStatus,
  type DeepPartial,
  FilesystemUsage,
  Image,
  PodSandbox,
} from '../../../src/proto/generated/cri.js';
import { bytes, count, instant } from '../../../src/units/units.js';

const NOW = instant(1_800_000_000_000);
const POD_LABELS = {
  'io.kubernetes.pod.uid': 'u1',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.name': 'web',
};

test('nanoseconds become milliseconds, whole ones exactly', (t) => {
  t.is(instantOf(1_700_000_000_123_000_000n), instant(1_700_000_000_123));
  t.is(instantOf(1_700_000_000_123_456_789n), instant(1_700_000_000_123.456));
  t.is(instantOf(0n), null);
  t.is(instantOf(-62_135_596_800_000_000_000n), null, "Go's zero time");
});

test('a container tells all that is listed', (t) => {
  const message = Container.fromPartial({
    id: 'c1',
    podSandboxId: 's1',
    metadata: { name: 'app', attempt: 3 },
    image: { image: 'sha256:aa', userSpecifiedImage: 'app:1', runtimeHandler: 'kata' },
    imageRef: 'sha256:aa',
    imageId: 'sha256:bb',
    state: 2,
    createdAt: 1_700_000_000_000_000_000n,
    labels: POD_LABELS,
    annotations: { a: 'b' },
  });
  t.deepEqual(containerRecord(message, NOW), {
    id: 'c1',
    sandboxId: 's1',
    name: 'app',
    attempt: 3,
    state: 'exited',
    createdAt: instant(1_700_000_000_000),
    imageId: 'sha256:bb',
    imageRef: 'sha256:aa',
    image: 'app:1',
    runtimeHandler: 'kata',
    pod: { uid: 'u1', namespace: 'default', name: 'web' },
    labels: POD_LABELS,
    annotations: { a: 'b' },
  });
});

test('every state has its name, and one of a later protocol is unknown', (t) => {
  const states = [0, 1, 2, 3, 7].map((state) => {
    const message = Container.fromPartial({});
    Object.assign(message, { state });
    return containerRecord(message, NOW).state;
  });
  t.deepEqual(states, ['created', 'running', 'exited', 'unknown', 'unknown']);
});

test('a container that does not say when it was made was made now', (t) => {
  t.is(containerRecord(Container.fromPartial({}), NOW).createdAt, NOW);
});

test('a container without all three pod labels is of nobody', (t) => {
  for (const missing of Object.keys(POD_LABELS)) {
    t.is(containerRecord(Container.fromPartial({ labels: { ...POD_LABELS, [missing]: '' } }), NOW).pod, null, missing);
  }
  t.is(containerRecord(Container.fromPartial({}), NOW).pod, null);
});

test('empty maps are one map, others are not copied', (t) => {
  const empty = containerRecord(Container.fromPartial({}), NOW);
  t.is(empty.labels, empty.annotations);
  const message = Container.fromPartial({ labels: { '': 'the empty key is a key' } });
  t.is(containerRecord(message, NOW).labels, message.labels);
});

test('an image reference is what the user wrote, else what was asked of the runtime', (t) => {
  t.is(containerRecord(Container.fromPartial({ image: { image: 'app:1' } }), NOW).image, 'app:1');
});

test('a sandbox is of the pod of its labels, else of its metadata', (t) => {
  const metadata = { name: 'n', uid: 'u', namespace: 'ns', attempt: 2 };
  const byHand = sandboxRecord(PodSandbox.fromPartial({ metadata, state: 1, runtimeHandler: 'kata' }), NOW);
  t.deepEqual(byHand.pod, { uid: 'u', namespace: 'ns', name: 'n' });
  t.is(byHand.attempt, 2);
  t.is(byHand.state, 'notready');
  t.is(byHand.runtimeHandler, 'kata');
  const ofKubelet = sandboxRecord(PodSandbox.fromPartial({ metadata, labels: POD_LABELS }), NOW);
  t.is(ofKubelet.pod.uid, 'u1');
  t.is(ofKubelet.state, 'ready');
});

test('a sandbox in a state of a later protocol counts as up', (t) => {
  const message = PodSandbox.fromPartial({});
  Object.assign(message, { state: 9 });
  t.is(sandboxRecord(message, NOW).state, 'ready');
});

test('an image tells its size and whether it is pinned', (t) => {
  const message = Image.fromPartial({
    id: 'i',
    repoTags: ['a:1'],
    repoDigests: ['a@sha256:1'],
    size: 5n,
    pinned: true,
  });
  t.deepEqual(imageRecord(message), {
    id: 'i',
    tags: ['a:1'],
    digests: ['a@sha256:1'],
    size: bytes(5),
    pinned: true,
    runtimeHandler: '',
  });
  t.is(imageRecord(Image.fromPartial({ spec: { runtimeHandler: 'kata' } })).runtimeHandler, 'kata');
});

test('an impossible image size is no size, and the list lives on', (t) => {
  t.is(imageRecord(Image.fromPartial({ size: 18_446_744_073_709_551_615n })).size, bytes(0));
});

test('a filesystem entry without its parts is unknown, not zero', (t) => {
  t.deepEqual(runtimeFilesystem(FilesystemUsage.fromPartial({})), {
    mountpoint: null,
    usedBytes: null,
    inodesUsed: null,
    at: null,
  });
  const message = {
    timestamp: 1_000_000n,
    fsId: { mountpoint: '/m' },
    usedBytes: { value: 0n },
    inodesUsed: { value: 4n },
  };
  t.deepEqual(runtimeFilesystem(FilesystemUsage.fromPartial(message)), {
    mountpoint: '/m',
    usedBytes: bytes(0),
    inodesUsed: count(4),
    at: instant(1),
  });
});

test('a status tells its log, its end and the images it mounts', (t) => {
  const message = ContainerStatus.fromPartial({
    id: 'c1',
    state: 2,
    logPath: '/var/log/pods/x/0.log',
    exitCode: 137,
    reason: 'OOMKilled',
    startedAt: 1_000_000_000n,
    finishedAt: 2_000_000_000n,
    mounts: [{ hostPath: '/h' }, { image: { image: 'sha256:vol' } }, { image: { image: '' } }],
  });
  t.deepEqual(containerStatusRecord(message), {
    id: 'c1',
    state: 'exited',
    logPath: '/var/log/pods/x/0.log',
    exitCode: 137,
    reason: 'OOMKilled',
    startedAt: instant(1000),
    finishedAt: instant(2000),
    imageVolumes: ['sha256:vol'],
    annotations: {},
  });
  t.is(containerStatusRecord(ContainerStatus.fromPartial({})).finishedAt, null, 'never finished');
});

const layer = test.macro({
  exec(t, writableLayer: DeepPartial<FilesystemUsage>, expected: ContainerUsage['writableLayer']) {
    const message = ContainerStats.fromPartial({ attributes: { id: 'c1' }, writableLayer });
    t.deepEqual(containerUsage(message), { id: 'c1', writableLayer: expected, memoryWorkingSet: null });
  },
  title: (title = '') => `writable layer: ${title}`,
});
test(
  'known',
  layer,
  { timestamp: 1_000_000n, usedBytes: { value: 7n }, inodesUsed: { value: 2n } },
  {
    used: bytes(7),
    inodes: count(2),
    at: instant(1),
  },
);
test(
  'without inodes',
  layer,
  { timestamp: 1_000_000n, usedBytes: { value: 7n } },
  {
    used: bytes(7),
    inodes: null,
    at: instant(1),
  },
);
test('timestamp 0 is "not looked yet", not zero bytes', layer, { timestamp: 0n, usedBytes: { value: 0n } }, null);
test('no bytes is unknown', layer, { timestamp: 1_000_000n }, null);
test(
  'a count below zero, wrapped round, is unknown',
  layer,
  { timestamp: 1n, usedBytes: { value: 2n ** 64n - 4096n } },
  null,
);

test('memory is what the runtime says, or unknown', (t) => {
  const memoryOf = (memory: DeepPartial<ContainerStats>) =>
    containerUsage(ContainerStats.fromPartial(memory)).memoryWorkingSet;
  t.is(memoryOf({ memory: { timestamp: 5n, workingSetBytes: { value: 9n } } }), bytes(9));
  t.is(memoryOf({ memory: { timestamp: 0n, workingSetBytes: { value: 0n } } }), null);
  t.is(memoryOf({ memory: { timestamp: 5n } }), null);
  t.is(memoryOf({}), null);
});
