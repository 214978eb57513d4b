import test from 'ava';
import {
  byUrgency,
  firstMetTimes,
  graceOf,
  isSameThreshold,
  LineBook,
  linesAboveCapacity,
  mergeThresholds,
  pastGrace,
  thresholdsBelow,
  withFreshNumbers,
} from '../../src/eviction/evaluate.js';
import type { Line } from '../../src/eviction/line.js';
import type { Observation } from '../../src/eviction/observe.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import { at, observation, seen, threshold } from '../fakes/builders.js';

const MI = 2 ** 20;
const GI = 2 ** 30;

const below = test.macro(
  (
    t,
    thresholds: readonly Threshold[],
    mark: keyof Line,
    observations: readonly Observation[],
    expected: readonly number[],
  ) => {
    const found = thresholdsBelow(thresholds, seen(...observations), mark, new LineBook());
    t.deepEqual(found, expected.map((index) => thresholds[index]) as unknown as Threshold[]);
  },
);

const MEMORY = [threshold('memory.available', '1Gi', { minReclaim: '500Mi' })];
const SHARES = [threshold('memory.available', '20%', { minReclaim: '5%' }), threshold('nodefs.available', '30%')];
const memory = (available: number) => observation('memory.available', available, 10 * GI);
const memoryOf1000 = (available: number) => observation('memory.available', available * MI, 1_000 * MI);
const diskOf1000 = (available: number) => observation('nodefs.available', available * GI, 1_000 * GI);

test('no thresholds, none is met', below, [], 'line', [memory(0)], []);
test('below the line is met', below, MEMORY, 'line', [memory(500 * MI)], [0]);
test('above the line is not', below, MEMORY, 'line', [memory(2 * GI)], []);
test('above line and band is not', below, MEMORY, 'target', [memory(2 * GI)], []);
test('exactly on the line is not', below, MEMORY, 'line', [memory(GI)], []);
test('one below line and band is inside the band', below, MEMORY, 'target', [memory(1_598_029_823)], [0]);
test('exactly on line and band is cleared', below, MEMORY, 'target', [memory(1_598_029_824)], []);
test('the band does not count for the line', below, MEMORY, 'line', [memory(1.05 * GI)], []);
test(
  'without a band the target is the line',
  below,
  [threshold('memory.available', '1Gi')],
  'target',
  [memory(1.05 * GI)],
  [],
);
test('shares: both are met', below, SHARES, 'line', [memoryOf1000(100), diskOf1000(100)], [0, 1]);
test('shares: none is met', below, SHARES, 'line', [memoryOf1000(300), diskOf1000(400)], []);
test('shares: only the disk', below, SHARES, 'line', [memoryOf1000(300), diskOf1000(100)], [1]);
test('shares: only memory', below, SHARES, 'line', [memoryOf1000(100), diskOf1000(400)], [0]);
test('inside the band, the other signal unseen', below, SHARES, 'target', [memoryOf1000(225)], [0]);
test('above the band, the other signal unseen', below, SHARES, 'target', [memoryOf1000(300)], []);
test('a signal without an observation is never met', below, SHARES, 'line', [diskOf1000(100)], [1]);
test(
  'a soft one counts before its grace',
  below,
  [threshold('memory.available', '2Gi', { graceSeconds: 120 })],
  'line',
  [memory(GI)],
  [0],
);

test('a line is resolved once per threshold and capacity, and anew when either changes', (t) => {
  const lines = new LineBook();
  const tenth = threshold('nodefs.available', '10%');
  const first = lines.lineOf(tenth, 1_000);
  t.is(lines.lineOf(tenth, 1_000), first);
  t.is(lines.lineOf(tenth, 2_000).line, 200);
  t.is(lines.lineOf(tenth, 1_000).line, 100);
  t.is(lines.lineOf(threshold('nodefs.available', '20%'), 1_000).line, 200, 'another configuration under the same id');
});

test('a threshold that goes on being met keeps its time, a new one starts, one that cleared is forgotten', (t) => {
  const [a, b] = SHARES as [Threshold, Threshold];
  const first = firstMetTimes([a], new Map(), at(10));
  t.deepEqual([...first], [[a.id, at(10)]]);
  const second = firstMetTimes([a, b], first, at(20));
  t.deepEqual([...second.values()], [at(10), at(20)]);
  t.deepEqual([...firstMetTimes([b], second, at(30))], [[b.id, at(20)]]);
  t.is(firstMetTimes([], second, at(30)).size, 0);
});

for (const [title, graceSeconds, elapsedSeconds, isOver] of [
  ['a hard one acts at once', undefined, 0, true],
  ['a soft one of two minutes is too early after one', 120, 60, false],
  ['a second short is too early', 120, 119, false],
  ['exactly at the end it is over', 120, 120, true],
  ['after it, it is over', 120, 180, true],
  ['a clock that went backwards does not end it', 120, -600, false],
] as const) {
  test(title, (t) => {
    const one = threshold('nodefs.available', '10%', graceSeconds === undefined ? {} : { graceSeconds });
    const due = pastGrace([one], new Map([[one.id, at(0)]]), at(elapsedSeconds));
    t.deepEqual(due, isOver ? [one] : []);
  });
}

test('one that was never met has no grace to end', (t) => {
  t.deepEqual(pastGrace([threshold('nodefs.available', '10%')], new Map(), at(0)), []);
});

for (const [title, now, before, isFresh] of [
  ['older than before is not fresh', 0, 60, false],
  ['the same time is not fresh', 60, 60, false],
  ['newer is fresh', 61, 60, true],
  ['without a time it is fresh', null, 60, true],
  ['after numbers without a time it is fresh', 60, null, true],
  ['without a predecessor it is fresh', 60, undefined, true],
  ['an observation that vanished is not', undefined, 60, false],
] as const) {
  test(`numbers: ${title}`, (t) => {
    const one = threshold('memory.available', '1Gi');
    const look = (time: number | null | undefined) =>
      time === undefined ? seen() : seen(observation('memory.available', 0, 1_000, time));
    t.is(withFreshNumbers([one], look(now), look(before)).length, isFresh ? 1 : 0);
  });
}

test('merging adds what is missing and no threshold twice', (t) => {
  const hard = threshold('memory.available', '1Gi');
  const twin = threshold('memory.available', '1024Mi', { id: 'twin', minReclaim: '1Gi' });
  const soft = threshold('memory.available', '1Gi', { graceSeconds: 60 });
  t.deepEqual(mergeThresholds([hard], [twin]), [hard]);
  t.deepEqual(mergeThresholds([hard], [soft, twin]), [hard, soft]);
  t.deepEqual(mergeThresholds([], [soft]), [soft]);
});

for (const [title, a, b, expected] of [
  [
    'amounts are compared by value',
    threshold('memory.available', '1Gi'),
    threshold('memory.available', '1024Mi'),
    true,
  ],
  ['another amount', threshold('memory.available', '1Gi'), threshold('memory.available', '2Gi'), false],
  ['another signal', threshold('memory.available', '1Gi'), threshold('nodefs.available', '1Gi'), false],
  ['equal shares', threshold('memory.available', '10%'), threshold('memory.available', '10.0%'), true],
  ['another share', threshold('memory.available', '10%'), threshold('memory.available', '11%'), false],
  ['a share is no amount', threshold('memory.available', '10%'), threshold('memory.available', '10'), false],
  ['an amount is no share', threshold('memory.available', '10'), threshold('memory.available', '10%'), false],
  [
    'the minimum reclaim is not compared',
    threshold('memory.available', '1', { minReclaim: '1' }),
    threshold('memory.available', '1'),
    true,
  ],
  [
    'soft is not hard',
    threshold('memory.available', '1'),
    threshold('memory.available', '1', { graceSeconds: 1 }),
    false,
  ],
] as const) {
  test(`sameness: ${title}`, (t) => {
    t.is(isSameThreshold(a, b), expected);
  });
}

test('memory is served first, then hard before soft, then as configured', (t) => {
  const order = [
    threshold('nodefs.available', '1', { graceSeconds: 1 }),
    threshold('pid.available', '1'),
    threshold('memory.available', '1', { graceSeconds: 1 }),
    threshold('nodefs.available', '1'),
    threshold('allocatableMemory.available', '1'),
  ] as const;
  const [softDisk, pids, softMemory, hardDisk, allocatable] = order;
  t.deepEqual(byUrgency(order), [allocatable, softMemory, pids, hardDisk, softDisk]);
  t.deepEqual(byUrgency([]), []);
});

test('a grace of zero and a hard threshold are the same', (t) => {
  t.is(graceOf(threshold('nodefs.available', '1')), 0);
  t.is(graceOf(threshold('nodefs.available', '1', { graceSeconds: 2 })), 2_000);
});

test('a line above the capacity is found; one at the capacity or of an unseen signal is not', (t) => {
  const tooHigh = threshold('nodefs.available', '1001');
  const whole = threshold('imagefs.available', '1000');
  const unseen = threshold('memory.available', '1Gi');
  const observations = seen(observation('nodefs.available', 500), observation('imagefs.available', 500));
  t.deepEqual(linesAboveCapacity([tooHigh, whole, unseen], observations, new LineBook()), [tooHigh]);
});
