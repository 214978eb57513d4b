import { fc, testProp } from '@fast-check/ava';
import test from 'ava';
import { crossing, digits, percentile, summarise } from './statistics.js';

const values = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 200 });

test('the median of three is the middle one, of four the lower middle one', (t) => {
  t.is(percentile([9, 1, 5], 0.5), 5);
  t.is(percentile([4, 1, 3, 2], 0.5), 2);
});

test('p99 is the largest of fifty values and the second largest of two hundred', (t) => {
  const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
  t.is(percentile(numbers.slice(0, 50), 0.99), 50);
  t.is(percentile(numbers, 0.99), 198);
});

testProp(
  'a percentile is a measured value that at least its share of values does not exceed, and no smaller one is',
  [values, fc.double({ min: 0, max: 1, noNaN: true })],
  (t, numbers, share) => {
    const found = percentile(numbers, share);
    const notAbove = (limit: number) => numbers.filter((value) => value <= limit).length;
    t.true(numbers.includes(found));
    t.true(notAbove(found) >= share * numbers.length);
    const smaller = numbers.filter((value) => value < found);
    if (smaller.length > 0) t.true(notAbove(Math.max(...smaller)) < share * numbers.length || share === 0);
  },
);

testProp('a summary is in order', [values], (t, numbers) => {
  const { min, median, p99, max, count } = summarise(numbers);
  t.true(min <= median && median <= p99 && p99 <= max);
  t.is(count, numbers.length);
});

test('no values and impossible shares are refused', (t) => {
  t.throws(() => percentile([], 0.5), { message: /there must be values/ });
  t.throws(() => percentile([1], 1.1), { message: /share is 0 to 1: 1.1/ });
  t.throws(() => percentile([1], Number.NaN), { message: /share is 0 to 1/ });
});

for (const [value, text] of [
  [0, '0'],
  [0.0123, '0.012'],
  [0.123, '0.123'],
  [4.5678, '4.57'],
  [45.678, '45.7'],
  [456.78, '457'],
  [45_678.9, '45,679'],
] as const) {
  test(`${value} is shown as ${text}`, (t) => t.is(digits(value), text));
}

test('the line is passed at its share of the way between two looks', (t) => {
  t.is(crossing({ at: 1_000n, value: 100 }, { at: 2_000n, value: 60 }, 90), 1_250n);
  t.is(crossing({ at: 1_000n, value: 100 }, { at: 2_000n, value: 60 }, 100), 1_000n);
});

test('two looks on the same side of the line tell no crossing', (t) => {
  t.throws(() => crossing({ at: 1n, value: 100 }, { at: 2n, value: 95 }, 90), { message: /both sides of 90: 100, 95/ });
  t.throws(() => crossing({ at: 1n, value: 80 }, { at: 2n, value: 70 }, 90));
});
