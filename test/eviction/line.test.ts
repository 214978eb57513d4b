import test from 'ava';
import { lineOf } from '../../src/eviction/line.js';
import type { Limit } from '../../src/eviction/threshold.js';
import { limit } from '../fakes/builders.js';

const MI = 2 ** 20;
const GI = 2 ** 30;

const resolves = test.macro({
  exec(
    t,
    line: string,
    minReclaim: string | null,
    capacity: number,
    expected: readonly [line: number, target: number],
  ) {
    const resolved = lineOf(
      { limit: limit(line), minReclaim: minReclaim === null ? null : limit(minReclaim) },
      capacity,
    );
    t.deepEqual([resolved.line, resolved.target], [...expected]);
  },
  title: (title, line: string, minReclaim: string | null, capacity: number) =>
    `${line}${minReclaim === null ? '' : ` and ${minReclaim}`} of ${capacity}: ${title ?? ''}`,
});

test('an amount is itself', resolves, '1Gi', null, 10 * GI, [GI, GI]);
test('amounts add up', resolves, '1Gi', '500Mi', 10 * GI, [GI, 1_598_029_824]);
test('an amount with a fraction is rounded up', resolves, '1.1', null, 100, [2, 2]);
test('amounts are added before they are rounded', resolves, '1.5', '1.5', 100, [2, 3]);
test('a share is cut off', resolves, '15%', null, 99, [14, 14]);
test('shares are cut off each by itself', resolves, '15%', '15%', 99, [14, 28]);
// 0.1 as a 32-bit float is a little more than a tenth; in 64 bits this would be 104857600.
test('a share is the nearest 32-bit float', resolves, '10%', null, 1000 * MI, [104_857_601, 104_857_601]);
test('an amount above the capacity stays', resolves, '2Gi', null, GI, [2 * GI, 2 * GI]);
test('the whole capacity', resolves, '100%', null, 12_345, [12_345, 12_345]);
test('nothing of a capacity of 0', resolves, '10%', '10%', 0, [0, 0]);
test('a negative minimum reclaim lowers the target, rounded up', resolves, '2', '-1.5', 10, [2, 1]);

for (const [name, fraction] of [
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['more than 64 bits hold', 1e30],
  ['little more than 64 bits hold', 1e16],
  ['exactly one more than 64 bits hold', 2 ** 63 / 1_000],
] as const) {
  test(`a minimum reclaim of ${name} turns the target hugely negative, as 64-bit Go does`, (t) => {
    const minReclaim: Limit = { kind: 'fraction', fraction };
    t.deepEqual(lineOf({ limit: limit('10%'), minReclaim }, 1_000), { line: 100, target: 100 - 2 ** 63 });
  });
}
