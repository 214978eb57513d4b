import test from 'ava';
import { withFillers } from '../../src/eviction/filling.js';
import type { WriteRate } from '../../src/eviction/usage.js';
import { milliseconds } from '../../src/units/units.js';
import { at, candidate } from '../fakes/builders.js';

const MIB = 1024 * 1024;

function writes(perSecond: number): WriteRate {
  return { perSecond, by: 'growth', over: milliseconds(200), at: at(0) };
}

function fillers(
  rates: Readonly<Record<string, number | null>>,
  fillRate: number,
  unit: 'bytes' | 'count' = 'bytes',
): readonly string[] {
  const all = Object.entries(rates).map(([uid, rate]) => candidate(uid, rate === null ? {} : { writes: writes(rate) }));
  return withFillers(all, fillRate, unit).flatMap(({ uid, isFilling }) => (isFilling === true ? [uid] : []));
}

for (const [title, rates, fillRate, expected] of [
  ['the one that writes what the disk loses', { writer: 90 * MIB, web: 2 * MIB }, 92 * MIB, ['writer']],
  ['nobody, where what is lost is not their doing', { web: 10 * MIB, api: 9 * MIB }, 200 * MIB, []],
  ['exactly a quarter is enough', { web: 25 * MIB }, 100 * MIB, ['web']],
  ['a byte less is not', { web: 25 * MIB - 1 }, 100 * MIB, []],
  [
    'a disk that gains by what is collected meanwhile still has its writer',
    { writer: 90 * MIB, log: MIB },
    0,
    ['writer'],
  ],
  ['four can share it', { a: 9 * MIB, b: 9 * MIB, c: 9 * MIB, d: 9 * MIB }, 0, ['a', 'b', 'c', 'd']],
  ['of five alike none is the one', { a: 9 * MIB, b: 9 * MIB, c: 9 * MIB, d: 9 * MIB, e: 9 * MIB }, 0, []],
  ['a chatty log is none, whatever share it has', { log: MIB - 1 }, 0, []],
  ['unknown is not guilty', { blind: null }, 90 * MIB, []],
  ['one that shrinks pays for nobody', { shrinks: -90 * MIB, writer: 30 * MIB }, 100 * MIB, ['writer']],
] as const) {
  test(`seen filling the disk: ${title}`, (t) => {
    t.deepEqual(fillers(rates, fillRate), [...expected]);
  });
}

test('of inodes a rate counts from where a build would reach it now and then', (t) => {
  t.deepEqual(fillers({ many: 5_000, few: 255 }, 0, 'count'), ['many']);
  t.deepEqual(fillers({ few: 255 }, 0, 'count'), []);
});
