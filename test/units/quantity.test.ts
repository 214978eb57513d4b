import test from 'ava';
import fc from 'fast-check';
import { formatQuantity, parseQuantity, QuantityError, quantityOf, valueRoundedUp } from '../../src/units/quantity.js';

const NANO = 1_000_000_000n;

const reads = test.macro({
  exec(t, text: string, nano: bigint) {
    t.is(parseQuantity(text).nano, nano);
    t.is(parseQuantity(text).text, text);
  },
  title: (_, text: string, nano: bigint) => `"${text}" is ${nano} billionths`,
});

test(reads, '1', NANO);
test(reads, '1.5Gi', 1_610_612_736n * NANO);
test(reads, '.5Gi', 536_870_912n * NANO);
test(reads, '+1Gi', 1_073_741_824n * NANO);
test(reads, '-2k', -2000n * NANO);
test(reads, '100m', 100_000_000n);
test(reads, '5.', 5n * NANO);
test(reads, '5e-1', NANO / 2n);
test(reads, '1E3', 1000n * NANO);
// E with nothing behind it is a suffix, followed by digits it is an exponent.
test(reads, '1E', 10n ** 18n * NANO);
test(reads, '0.1n', 1n);
test(reads, '-0.1n', -1n);
test(reads, '1e-400', 1n);
// Texts without digits are zero where the kubelet takes its short way.
test(reads, 'Mi', 0n);
test(reads, 'e3', 0n);
test(reads, '.', 0n);
test(reads, '+', 0n);
// Only binary suffixes are capped.
test(reads, '16Ei', (2n ** 63n - 1n) * NANO);
test(reads, '-16Ei', -(2n ** 63n - 1n) * NANO);
test(reads, '16E', 16n * 10n ** 18n * NANO);
// The kubelet keeps the low 32 bits of an exponent.
test(reads, '1e4294967296', NANO);

for (const text of [
  '',
  ' ',
  '1 ',
  ' 1',
  '1K',
  '1B',
  '1GB',
  '1gi',
  '1mi',
  '1_0',
  '1e',
  '1ee3',
  '--1',
  '1.2.3',
  '0x10',
  '٤',
  'Pi',
  'e-10',
  '1e99999999999999999999',
  'nil',
]) {
  test(`"${text}" is not a quantity`, (t) => {
    t.throws(() => parseQuantity(text), { instanceOf: QuantityError, message: /^Cannot read a quantity as .*: "/ });
  });
}

test('an absurd exponent is read without writing out its digits', (t) => {
  t.true(parseQuantity('1e2147483647').nano > 10n ** 300n);
  t.is(parseQuantity('0e2147483647').nano, 0n);
});

const writes = test.macro({
  exec(t, value: bigint, form: 'binary' | 'decimal', text: string) {
    t.is(formatQuantity(value, form), text);
  },
  title: (_, value: bigint, form: string, text: string) => `${value} in ${form} form is ${text}`,
});

test(writes, 0n, 'binary', '0');
test(writes, 1023n, 'binary', '1023');
test(writes, 1_610_612_736n, 'binary', '1536Mi');
test(writes, -2048n, 'binary', '-2Ki');
test(writes, 1_000_000n, 'decimal', '1M');
test(writes, 1500n, 'decimal', '1500');
test(writes, 10n ** 21n, 'decimal', '1000E');

test('a fraction of one counts as one, and of minus one as zero', (t) => {
  t.is(valueRoundedUp(parseQuantity('1m')), 1n);
  t.is(valueRoundedUp(parseQuantity('-1m')), 0n);
  t.is(valueRoundedUp(parseQuantity('-1500m')), -1n);
  t.is(valueRoundedUp(parseQuantity('0.1Ki')), 103n);
});

const int64 = fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n });

test('what is written is read back to the same number, in both forms', (t) => {
  fc.assert(
    fc.property(int64, fc.constantFrom('binary' as const, 'decimal' as const), (value, form) => {
      t.is(parseQuantity(formatQuantity(value, form)).nano, value * NANO);
      t.is(quantityOf(value, form).nano, value * NANO);
    }),
  );
});

test('a suffix multiplies, whatever stands before it', (t) => {
  const scales = fc.constantFrom(
    ['Ki', 1024n],
    ['Mi', 1024n ** 2n],
    ['k', 1000n],
    ['G', 10n ** 9n],
    ['e3', 1000n],
  ) as fc.Arbitrary<[string, bigint]>;
  fc.assert(
    fc.property(fc.nat(), fc.nat(999), scales, (whole, thousandths, [suffix, factor]) => {
      const decimals = `${thousandths}`.padStart(3, '0');
      t.is(
        parseQuantity(`${whole}.${decimals}${suffix}`).nano,
        (BigInt(whole) * 1000n + BigInt(thousandths)) * factor * (NANO / 1000n),
      );
    }),
  );
});
