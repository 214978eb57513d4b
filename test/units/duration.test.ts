import test from 'ava';
import fc from 'fast-check';
import {
  DurationError,
  formatDuration,
  millisecondsOf,
  nanosecondsOf,
  parseDuration,
  shortDuration,
} from '../../src/units/duration.js';

const reads = test.macro({
  exec(t, text: string, nanoseconds: bigint) {
    t.is(parseDuration(text), nanoseconds);
  },
  title: (_, text: string, nanoseconds: bigint) => `"${text}" is ${nanoseconds} ns`,
});

test(reads, '0', 0n);
test(reads, '-0', 0n);
test(reads, '1m30s', 90_000_000_000n);
test(reads, '1.5h', 5_400_000_000_000n);
test(reads, '.5s', 500_000_000n);
test(reads, '5.s', 5_000_000_000n);
test(reads, '+5s', 5_000_000_000n);
test(reads, '-30s', -30_000_000_000n);
test(reads, '30s1m', 90_000_000_000n);
// The micro sign and the Greek letter are two letters that look alike.
test(reads, '1\u00b5s', 1000n);
test(reads, '1\u03bcs', 1000n);
test(reads, '1us', 1000n);
test(reads, '0.3ns', 0n);
test(reads, '9223372036854775807ns', 2n ** 63n - 1n);
test(reads, '-9223372036854775808ns', -(2n ** 63n));

for (const text of [
  '',
  '+',
  '90',
  '1d',
  '5min',
  '2 m',
  '1m 30s',
  '5M',
  ' 5s',
  '5s ',
  's',
  '.s',
  '1.2.3s',
  '1e3s',
  '-',
  '--1s',
  '9223372036854775808ns',
  '3000000h',
]) {
  test(`"${text}" is not a duration`, (t) => {
    t.throws(() => parseDuration(text), { instanceOf: DurationError });
  });
}

const writes = test.macro({
  exec(t, nanoseconds: bigint, text: string, short: string) {
    t.is(formatDuration(nanoseconds), text);
    t.is(shortDuration(nanoseconds), short);
  },
  title: (_, nanoseconds: bigint, text: string) => `${nanoseconds} ns is written ${text}`,
});

test(writes, 0n, '0s', '0s');
test(writes, 1n, '1ns', '1ns');
test(writes, 1500n, '1.5µs', '1.5µs');
test(writes, 100_000_000n, '100ms', '100ms');
test(writes, 90_000_000_000n, '1m30s', '1m30s');
test(writes, 300_000_000_000n, '5m0s', '5m');
test(writes, 36_000_000_000_000n, '10h0m0s', '10h');
test(writes, 3_601_000_000_000n, '1h0m1s', '1h0m1s');
test(writes, -90_500_000_000n, '-1m30.5s', '-1m30.5s');

test('what is written is read back to the same duration, long and short', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }), (nanoseconds) => {
      t.is(parseDuration(formatDuration(nanoseconds)), nanoseconds);
      t.is(parseDuration(shortDuration(nanoseconds)), nanoseconds);
    }),
  );
});

test('nanoseconds survive being milliseconds', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (nanoseconds) => {
      t.is(nanosecondsOf(millisecondsOf(nanoseconds)), nanoseconds);
    }),
  );
  t.throws(() => millisecondsOf(-1n), { instanceOf: RangeError });
});
