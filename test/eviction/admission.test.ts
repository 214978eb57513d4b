import test from 'ava';
import { admit, isBestEffort } from '../../src/eviction/admission.js';
import type { PodSpec, Toleration } from '../../src/eviction/pod-spec.js';
import type { NodeCondition } from '../../src/eviction/signal.js';
import { amounts, containerSpec, podSpec } from '../fakes/pod-spec.js';

const plain = { isMirror: false, source: null, priority: 0 };
const MEMORY: readonly NodeCondition[] = ['MemoryPressure'];

function isIn(
  spec: Partial<PodSpec>,
  conditions: readonly NodeCondition[],
  changes: Partial<typeof plain> = {},
): boolean {
  return admit({ ...plain, ...changes, spec: podSpec(spec) }, conditions).admitted;
}

test('a refusal names the conditions', (t) => {
  t.deepEqual(admit({ ...plain, spec: podSpec() }, ['DiskPressure', 'MemoryPressure']), {
    admitted: false,
    reason: 'Evicted',
    conditions: ['DiskPressure', 'MemoryPressure'],
  });
  t.true(isIn({}, []));
});

test('critical pods are let in under every condition', (t) => {
  t.true(isIn({}, ['DiskPressure'], { priority: 2_000_000_000 }));
  t.true(isIn({}, ['DiskPressure'], { isMirror: true }));
  t.false(isIn({}, ['DiskPressure'], { priority: 1_999_999_999 }));
});

const KEY = 'node.kubernetes.io/memory-pressure';
const tolerations: readonly [title: string, toleration: Partial<Toleration>, admitted: boolean][] = [
  ['the taint by its name', { key: KEY }, true],
  ['the taint, whatever its effect', { key: KEY, effect: null }, true],
  ['every taint', { key: null, effect: null }, true],
  ['another effect', { key: KEY, effect: 'NoExecute' }, false],
  ['another taint', { key: 'node.kubernetes.io/disk-pressure' }, false],
  ['the taint with no value', { key: KEY, operator: 'Equal' }, true],
  ['the taint with a value that it does not have', { key: KEY, operator: 'Equal', value: 'yes' }, false],
  ['no name and no operator for all', { key: null, operator: 'Equal' }, false],
];

for (const [title, toleration, admitted] of tolerations) {
  test(`while memory alone is short, a pod that asks for nothing and tolerates ${title} is let ${admitted ? 'in' : 'nowhere'}`, (t) => {
    const all = [{ key: null, operator: 'Exists' as const, value: '', effect: 'NoSchedule', ...toleration }];
    t.is(isIn({ tolerations: all }, MEMORY), admitted);
    t.false(isIn({ tolerations: all }, ['MemoryPressure', 'DiskPressure']));
  });
}

const QUALITY: readonly [title: string, spec: Partial<PodSpec>, bestEffort: boolean][] = [
  ['nothing', {}, true],
  ['storage alone', { containers: [containerSpec('a', { limits: amounts({ 'ephemeral-storage': '1Gi' }) })] }, true],
  ['a request of zero', { containers: [containerSpec('a', { requests: amounts({ cpu: '0' }) })] }, true],
  ['CPU', { containers: [containerSpec('a', { requests: amounts({ cpu: '1m' }) })] }, false],
  [
    'a limit of an init container',
    { containers: [containerSpec('a', { kind: 'init', limits: amounts({ memory: '1' }) })] },
    false,
  ],
  ['memory for the pod as a whole', { podRequests: amounts({ memory: '1' }) }, false],
];

for (const [title, spec, bestEffort] of QUALITY) {
  test(`asking for ${title} is ${bestEffort ? '' : 'more than '}best effort`, (t) => {
    t.is(isBestEffort(podSpec(spec)), bestEffort);
    t.is(isIn(spec, MEMORY), !bestEffort);
  });
}
