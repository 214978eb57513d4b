import test from 'ava';
import { readLogLimits } from '../../src/gc/log-limits.js';

/** Bytes, or what is said instead. */
function read(maxSize: string, maxFiles = 5): number | string {
  const result = readLogLimits(maxSize, maxFiles);
  switch (result.kind) {
    case 'limits':
      return result.limits.maxSizeBytes;
    case 'off':
      return 'off';
    case 'refused':
      return result.fault;
  }
}

const size = test.macro({
  exec(t, text: string, expected: number | string) {
    t.is(read(text), expected);
  },
  title: (_, text: string, expected: number | string) => `a log size of ${text} is read as ${expected}`,
});

const NO_INTEGER = 'max-size-not-an-integer';

test(size, '10Mi', 10 * 2 ** 20);
test(size, '0', 0);
test(size, '-1', 'off');
test(size, '-1Ki', 'off');
test(size, '1.5k', 1_500);
test(size, '1.5Ki', NO_INTEGER);
test(size, '2000m', NO_INTEGER);
test(size, '1e3', 1_000);
test(size, 'x', 'max-size-unreadable');
// The most digits that are kept as an integer, and one more.
test(size, '123456789012345678', 123_456_789_012_345_680);
test(size, '1234567890123456789', NO_INTEGER);
test(size, '99999Gi', 99_999 * 2 ** 30);
test(size, '100000Gi', NO_INTEGER);
// The last that 64 bits hold, and the next.
test(size, '9E', 9e18);
test(size, '10E', NO_INTEGER);
test(size, '1e18', 1e18);
test(size, '0e19', 0);
test(size, '1e19', NO_INTEGER);

// A scale that nobody could reckon with is not reckoned with.
test(size, '1e999999999', NO_INTEGER);
test(size, '0e999999999', 0);

for (const [suffix, factor] of Object.entries({
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
})) {
  test(size, `1${suffix}`, factor);
}
for (const suffix of ['n', 'u', 'm', 'Pi', 'Ei']) test(size, `1${suffix}`, NO_INTEGER);

test('a log keeps at least two files, the current one included', (t) => {
  t.is(read('1', 1), 'max-files-too-small');
  t.is(read('1', 2), 1);
});

// Nineteen digits, however they stand round the point.
test(size, '1.123456789012345678E', NO_INTEGER);
