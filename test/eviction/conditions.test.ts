import test from 'ava';
import { conditionsOf, conditionTimes, reportedConditions } from '../../src/eviction/conditions.js';
import { milliseconds } from '../../src/units/units.js';
import { at, threshold } from '../fakes/builders.js';

test('thresholds raise each condition once', (t) => {
  t.deepEqual(conditionsOf([]), []);
  t.deepEqual(conditionsOf([threshold('memory.available', '1'), threshold('allocatableMemory.available', '1')]), [
    'MemoryPressure',
  ]);
  t.deepEqual(
    conditionsOf([
      threshold('nodefs.inodesFree', '1'),
      threshold('pid.available', '1'),
      threshold('imagefs.available', '1'),
      threshold('memory.available', '1'),
    ]),
    ['DiskPressure', 'PIDPressure', 'MemoryPressure'],
  );
});

test('a condition that holds is seen now, one that no longer does keeps its time', (t) => {
  const first = conditionTimes(new Map(), ['DiskPressure', 'MemoryPressure'], at(0));
  const second = conditionTimes(first, ['DiskPressure'], at(60));
  t.deepEqual(
    [...second],
    [
      ['DiskPressure', at(60)],
      ['MemoryPressure', at(0)],
    ],
  );
});

for (const [title, seenAt, period, now, zeroReportsHolding, isReported] of [
  ['inside the period', 0, 300, 299, false, true],
  ['exactly at its end', 0, 300, 300, false, false],
  ['after it', 0, 300, 301, false, false],
  ['right now', 0, 300, 0, false, true],
  ['right now with a period of zero, as in the kubelet', 0, 0, 0, false, false],
  ['right now with a period of zero, where that reports what holds', 0, 0, 0, true, true],
  ['a moment ago with a period of zero', 0, 0, 1, true, false],
  ['in the future, as the clock went backwards', 100, 300, 0, false, true],
] as const) {
  test(`a condition last seen ${title} is ${isReported ? '' : 'not '}reported`, (t) => {
    const times = new Map([['DiskPressure', at(seenAt)] as const]);
    t.deepEqual(
      reportedConditions(times, milliseconds(period * 1_000), at(now), zeroReportsHolding),
      isReported ? ['DiskPressure'] : [],
    );
  });
}
