import test from 'ava';
import { fillRateNow } from '../../src/eviction/fill-rate.js';
import { at, stateWith } from '../fakes/builders.js';

const samples = (...rows: readonly (readonly [seconds: number, available: number])[]) =>
  stateWith({ samples: new Map([['nodefs', rows.map(([seconds, available]) => ({ at: at(seconds), available }))]]) });

test('the fastest loss of the last seconds counts: what is collected meanwhile hides a loss', (t) => {
  const state = samples([9, 1_000], [9.5, 900], [10, 5_000]);
  t.is(fillRateNow(state, 'nodefs.available', at(10)), 200);
});

test('what a disk lost before says nothing about now', (t) => {
  const state = samples([1, 9_000], [2, 1_000], [8, 1_000], [10, 1_000]);
  t.is(fillRateNow(state, 'nodefs.available', at(10)), 0);
  t.is(fillRateNow(samples([7, 9_000], [8, 1_000]), 'nodefs.available', at(10)), 8_000, 'three seconds are recent');
});

test('of other filesystems, of inodes and of memory no loss is known', (t) => {
  const state = samples([9, 1_000], [10, 0]);
  for (const signal of ['imagefs.available', 'nodefs.inodesFree', 'memory.available'] as const) {
    t.is(fillRateNow(state, signal, at(10)), 0);
  }
});
