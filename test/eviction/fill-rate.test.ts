import test from 'ava';
import { fillRateNow, nearestLine, sustainedFillRate } from '../../src/eviction/fill-rate.js';
import { at, observation, seen, settingsOf, stateWith, threshold } from '../fakes/builders.js';

const MB = 1_000_000;
type Row = readonly [seconds: number, available: number];

const samples = (...rows: readonly Row[]) =>
  stateWith({ samples: new Map([['nodefs', rows.map(([seconds, available]) => ({ at: at(seconds), available }))]]) });

/** Looks ten times a second at a disk that has `left` when it is second 10. */
function history(left: number, lostUntil: (secondsBefore: number) => number): readonly Row[] {
  return Array.from({ length: 101 }, (_, index): Row => {
    const before = (100 - index) / 10;
    return [10 - before, left + lostUntil(before)];
  });
}

test('what the last second lost is the rate; what was collected meanwhile hides a loss and makes none', (t) => {
  t.is(fillRateNow(samples([9, 1_000], [9.5, 900], [10, 5_000]), 'nodefs.available', at(10)), 100);
});

test('what a disk lost before says nothing about now', (t) => {
  const state = samples([1, 9_000], [2, 1_000], [8, 1_000], [10, 1_000]);
  t.is(fillRateNow(state, 'nodefs.available', at(10)), 0);
});

test('of a loss between two looks that lie far apart the last second has its share', (t) => {
  t.is(fillRateNow(samples([0, 9_000], [10, 1_000]), 'nodefs.available', at(10)), 800);
});

test('of other filesystems, of inodes and of memory no loss is known', (t) => {
  const state = samples([9, 1_000], [10, 0]);
  for (const signal of ['imagefs.available', 'nodefs.inodesFree', 'memory.available'] as const) {
    t.is(fillRateNow(state, signal, at(10)), 0);
    t.is(sustainedFillRate(state, signal, at(10)), 0);
  }
});

const sustained = (left: number, lostUntil: (secondsBefore: number) => number) =>
  Math.round(sustainedFillRate(samples(...history(left, lostUntil)), 'nodefs.available', at(10)) / MB);

test('where two seconds are left, what went on for 400 ms is believed', (t) => {
  const since400ms = (before: number) => 150 * MB * Math.min(0.4, before);
  t.is(sustained(300 * MB, since400ms), 150);
});

test('where a minute is left, a dump of 100 MB in a moment is not taken for a rate that goes on', (t) => {
  const dump = (before: number) => 200 * MB * Math.min(0.5, before);
  t.true(sustained(12_000 * MB, dump) <= 16);
});

test('a writer that goes on is believed whatever is left, once it has gone on', (t) => {
  t.is(
    sustained(12_000 * MB, (before) => 200 * MB * before),
    200,
  );
});

test('a writer that writes once a second is as fast as its mean, twice that at most', (t) => {
  const sawing = (before: number) => 9 * MB * Math.ceil(before);
  t.true(sustained(290 * MB, sawing) <= 23);
});

const LINES = [threshold('nodefs.available', '1000'), threshold('imagefs.available', '1000')];

test('the nearest line is the one that is crossed first at the rate of now', (t) => {
  const state = stateWith({
    observations: seen(observation('nodefs.available', 1_500), observation('imagefs.available', 1_100)),
    samples: new Map([
      ['nodefs', [9, 10].map((second) => ({ at: at(second), available: 1_500 + 500 * (10 - second) }))],
      ['imagefs', [9, 10].map((second) => ({ at: at(second), available: 1_100 + 50 * (10 - second) }))],
    ]),
  });
  const near = nearestLine(state, settingsOf(LINES), at(10));
  t.is(near?.threshold, LINES[0]);
  t.is(near?.left as number, 1_000);
});

test('a line that is missed is nearest of all; a disk that loses nothing is near none', (t) => {
  const missed = stateWith({ observations: seen(observation('imagefs.available', 999)) });
  t.like(nearestLine(missed, settingsOf(LINES), at(10)), { threshold: LINES[1], left: 0 });
  const idle = stateWith({ observations: seen(observation('nodefs.available', 1_000)) });
  t.is(nearestLine(idle, settingsOf(LINES), at(10)), null);
});
