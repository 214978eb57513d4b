import test from 'ava';
import { hasStorageLimits, storageViolation } from '../../src/eviction/local-storage.js';
import type { PodSpec } from '../../src/eviction/pod-spec.js';
import type { PodStats } from '../../src/eviction/pod-stats.js';
import { parseQuantity } from '../../src/units/quantity.js';
import { amounts, containerSpec, podSpec, podStats } from '../fakes/pod-spec.js';

const use = (bytes: number | null) => ({ bytes, inodes: null });
const dir = (name: string, limit: string | null, medium = '') =>
  ({ kind: 'emptyDir', name, medium, sizeLimit: limit === null ? null : parseQuantity(limit) }) as const;
const main = (layer: number | null, logs: number | null) => ({
  name: 'main',
  memoryWorkingSet: null,
  rootfs: use(layer),
  logs: use(logs),
});
const limited = (text: string) => [containerSpec('main', { limits: amounts({ 'ephemeral-storage': text }) })];

const CASES: readonly [title: string, spec: Partial<PodSpec>, stats: Partial<PodStats>, expected: string | null][] = [
  ['without limits nothing is over one', {}, { ephemeralStorage: 9e9 }, null],
  [
    'a volume over its size',
    { volumes: [dir('a', '10'), dir('b', '10')] },
    { volumes: [{ name: 'b', use: use(11) }] },
    'emptyDirLimit b 11 of 10',
  ],
  [
    'a volume on its line is not over it',
    { volumes: [dir('a', '10')] },
    { volumes: [{ name: 'a', use: use(10) }] },
    null,
  ],
  ['a size of zero is no limit', { volumes: [dir('a', '0')] }, { volumes: [{ name: 'a', use: use(1) }] }, null],
  ['a volume of unknown use', { volumes: [dir('a', '10')] }, { volumes: [{ name: 'a', use: use(null) }] }, null],
  [
    'a volume in memory has its size too',
    { volumes: [dir('a', '10', 'Memory')] },
    { volumes: [{ name: 'a', use: use(11) }] },
    'emptyDirLimit a 11 of 10',
  ],
  ['the pod over its limit', { containers: limited('10') }, { ephemeralStorage: 11 }, 'podLimit null 11 of 10'],
  [
    'a volume comes before the pod',
    { containers: limited('10'), volumes: [dir('a', '5')] },
    { ephemeralStorage: 11, volumes: [{ name: 'a', use: use(6) }] },
    'emptyDirLimit a 6 of 5',
  ],
  [
    'a container over its limit',
    { containers: limited('10') },
    { containers: [main(6, 5)] },
    'containerLimit main 11 of 10',
  ],
  ['a container on its line', { containers: limited('10') }, { containers: [main(6, 4)] }, null],
  ['a layer that nobody measured', { containers: limited('10') }, { containers: [main(null, 10)] }, null],
  ['logs that nobody measured', { containers: limited('10') }, { containers: [main(10, null)] }, null],
  ['a pod that nobody measured', { containers: limited('10') }, { ephemeralStorage: null }, null],
  ['a limit of zero on a container', { containers: limited('0') }, { containers: [main(6, 5)] }, null],
];

for (const [title, spec, stats, expected] of CASES) {
  test(title, (t) => {
    const violation = storageViolation(podSpec(spec), podStats(stats), 'one-disk', 'layer-beside-logs-alone');
    const text =
      violation === null ? null : `${violation.kind} ${violation.subject} ${violation.used} of ${violation.limit}`;
    t.is(text, expected);
  });
}

test('the kubelet counts layers for a container only where they share a disk with its logs', (t) => {
  const spec = podSpec({ containers: limited('10') });
  const stats = podStats({ containers: [main(6, 5)] });
  const kubelets = 'layer-beside-logs-alone';
  t.is(storageViolation(spec, stats, 'image-disk', kubelets), null);
  t.is(storageViolation(spec, stats, 'split-disks', kubelets), null);
  t.is(storageViolation(spec, podStats({ containers: [main(0, 11)] }), 'image-disk', kubelets)?.kind, 'containerLimit');
});

test('a layer counts in every layout, and the container is named before its pod', (t) => {
  const spec = podSpec({ containers: limited('10') });
  const stats = podStats({ ephemeralStorage: 11, containers: [main(6, 5)] });
  for (const layout of ['one-disk', 'image-disk', 'split-disks'] as const) {
    t.like(storageViolation(spec, stats, layout), { kind: 'containerLimit', subject: 'main', used: 11, limit: 10 });
  }
  t.is(storageViolation(spec, podStats({ ephemeralStorage: 11 }), 'one-disk')?.kind, 'podLimit');
});

test('only pods with a limit are worth measuring', (t) => {
  t.false(hasStorageLimits(podSpec({ volumes: [dir('a', null)] })));
  t.true(hasStorageLimits(podSpec({ volumes: [dir('a', '1Gi')] })));
  t.true(hasStorageLimits(podSpec({ containers: limited('1Gi') })));
});
