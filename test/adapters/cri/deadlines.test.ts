import test from 'ava';
import { DEFAULT_REQUEST_TIMEOUT, deadlinesFor, stopTimes } from '../../../src/adapters/cri/deadlines.js';
import { milliseconds } from '../../../src/units/units.js';

test('reads are given less time than changes, and nothing more than the request timeout', (t) => {
  t.deepEqual(deadlinesFor(DEFAULT_REQUEST_TIMEOUT), {
    quick: milliseconds(10_000),
    list: milliseconds(30_000),
    change: milliseconds(120_000),
  });
  t.deepEqual(deadlinesFor(milliseconds(500)), {
    quick: milliseconds(500),
    list: milliseconds(500),
    change: milliseconds(500),
  });
});

const stop = test.macro({
  exec(t, graceMs: number, seconds: bigint, timeoutMs: number) {
    t.deepEqual(stopTimes(milliseconds(graceMs)), { seconds, timeout: milliseconds(timeoutMs) });
  },
  title: (_, graceMs: number) => `a stop with a grace of ${graceMs} ms outlasts it by the margin`,
});
test(stop, 0, 0n, 10_000);
test(stop, 1, 1n, 11_000);
test(stop, 30_000, 30n, 40_000);
test(stop, 30_001, 31n, 41_000);
