import test from 'ava';
import { bytes, count, elapsed, instant, later, milliseconds } from '../../src/units/units.js';

for (const value of [0, 1, 2 ** 53 - 1]) {
  test(`${value} is an amount of bytes and a count`, (t) => {
    t.is<number, number>(bytes(value), value);
    t.is<number, number>(count(value), value);
  });
}

for (const value of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
  test(`${value} is neither bytes nor a count`, (t) => {
    t.throws(() => bytes(value), { instanceOf: RangeError, message: new RegExp(`bytes.*: ${value}$`) });
    t.throws(() => count(value), { instanceOf: RangeError, message: new RegExp(`count.*: ${value}$`) });
  });
}

test('a duration may be fractional and zero, but not negative, endless or no number', (t) => {
  t.is<number, number>(milliseconds(0), 0);
  t.is<number, number>(milliseconds(0.5), 0.5);
  for (const value of [-0.1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => milliseconds(value), { instanceOf: RangeError, message: new RegExp(`${value}$`) });
  }
});

test('an instant may lie before the epoch, but must be finite', (t) => {
  t.is<number, number>(instant(-5), -5);
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    t.throws(() => instant(value), { instanceOf: RangeError, message: new RegExp(`${value}$`) });
  }
});

test('time that went backwards counts as none', (t) => {
  t.is<number, number>(elapsed(instant(10), instant(25)), 15);
  t.is<number, number>(elapsed(instant(25), instant(10)), 0);
});

test('a later instant lies that much later', (t) => {
  t.is<number, number>(later(instant(10), milliseconds(5)), 15);
});
