import test from 'ava';
import { inUnits, podLimit, podRequest } from '../../src/eviction/pod-resources.js';
import type { ContainerKind, ContainerSpec, PodSpec } from '../../src/eviction/pod-spec.js';
import { parseQuantity } from '../../src/units/quantity.js';
import { amounts, containerSpec, podSpec } from '../fakes/pod-spec.js';

/** A container that asks for so many bytes of memory, and may use as many of the disk. */
function asking(kind: ContainerKind, bytes: number): ContainerSpec {
  return containerSpec(`${kind}-${bytes}`, {
    kind,
    requests: amounts({ memory: `${bytes}` }),
    limits: amounts({ 'ephemeral-storage': `${bytes}` }),
  });
}

const SUMS: readonly [title: string, containers: readonly ContainerSpec[], bytes: number][] = [
  ['regular containers add up', [asking('regular', 10), asking('regular', 5)], 15],
  ['sidecars run beside them', [asking('sidecar', 7), asking('regular', 5)], 12],
  ['init containers run one by one, before', [asking('init', 20), asking('init', 30), asking('regular', 5)], 30],
  ['one that needs less than what follows changes nothing', [asking('init', 3), asking('regular', 5)], 5],
  [
    'an init container runs beside the sidecars before it, not those after',
    [asking('sidecar', 7), asking('init', 20), asking('sidecar', 9), asking('regular', 1)],
    27,
  ],
  ['ephemeral containers do not count', [asking('ephemeral', 99), asking('regular', 5)], 5],
];

for (const [title, containers, bytes] of SUMS) {
  test(`${title}, in requests and in limits`, (t) => {
    t.is(podRequest(podSpec({ containers }), 'memory'), bytes);
    t.is(podLimit(podSpec({ containers }), 'ephemeral-storage'), bytes);
  });
}

const OVERHEAD = amounts({ memory: '100', 'ephemeral-storage': '100' });
const PODS: readonly [title: string, changes: Partial<PodSpec>, memory: number, storage: number][] = [
  ['nothing asked for is nothing', {}, 0, 0],
  ['overhead alone asks for nothing', { overhead: OVERHEAD }, 0, 0],
  ['overhead comes on top of what is asked for', { containers: [asking('regular', 5)], overhead: OVERHEAD }, 105, 0],
  ['what the pod asks for replaces what its containers do', { podRequests: amounts({ memory: '9' }) }, 9, 0],
  [
    'anything at pod level silences the containers, for every resource',
    {
      containers: [containerSpec('a', { requests: amounts({ memory: '5', 'ephemeral-storage': '6' }) })],
      podLimits: amounts({ 'hugepages-2Mi': '2Mi' }),
    },
    0,
    0,
  ],
  [
    'storage cannot be set at pod level, so that alone silences nobody',
    {
      containers: [containerSpec('a', { requests: amounts({ memory: '5', 'ephemeral-storage': '6' }) })],
      podLimits: amounts({ 'ephemeral-storage': '1' }),
    },
    5,
    6,
  ],
];

for (const [title, changes, memory, storage] of PODS) {
  test(title, (t) => {
    t.is(podRequest(podSpec(changes), 'memory'), memory);
    t.is(podRequest(podSpec(changes), 'ephemeral-storage'), storage);
  });
}

test('inodes and processes cannot be asked for', (t) => {
  const spec = podSpec({ containers: [containerSpec('a', { requests: amounts({ inodes: '5', pids: '6' }) })] });
  t.deepEqual([podRequest(spec, 'inodes'), podRequest(spec, 'pids')], [0, 0]);
});

test('without a limit anywhere there is none; a limit of zero is one', (t) => {
  const limited = (text: string) =>
    podSpec({
      containers: [containerSpec('a'), containerSpec('b', { limits: amounts({ 'ephemeral-storage': text }) })],
    });
  t.is(podLimit(podSpec(), 'ephemeral-storage'), null);
  t.is(podLimit(limited('0'), 'ephemeral-storage'), 0);
  t.is(podLimit({ ...limited('7'), overhead: OVERHEAD }, 'ephemeral-storage'), 107);
});

test('whole numbers are exact up to 2^53, and fractions are kept', (t) => {
  t.is(inUnits(parseQuantity('9007199254740991').nano), Number.MAX_SAFE_INTEGER);
  t.is(inUnits(parseQuantity('1500m').nano), 1.5);
});
