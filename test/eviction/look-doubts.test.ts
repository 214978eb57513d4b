import test from 'ava';
import { lookDoubts } from '../../src/eviction/look-doubts.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import { observation, settingsOf, sightOf, threshold } from '../fakes/builders.js';

const doubts = (thresholds: readonly Threshold[], layout: 'one-disk' | 'image-disk' = 'one-disk', available = 500) =>
  lookDoubts(
    sightOf(observation('nodefs.available', available), observation('imagefs.available', available)),
    layout,
    settingsOf(thresholds),
  ).map(({ warning }) => warning);

const NODEFS = threshold('nodefs.available', '10%');
const IMAGEFS = threshold('imagefs.available', '10%');

test('an amount above half of the disk is doubtful, half of it and a percentage are not', (t) => {
  t.deepEqual(doubts([threshold('nodefs.available', '501')]), [
    { code: 'THRESHOLD_MOST_OF_DISK', signal: 'nodefs.available', limit: '501', line: 501, capacity: 1_000 },
  ]);
  t.deepEqual(doubts([threshold('nodefs.available', '500')]), []);
  t.deepEqual(doubts([threshold('nodefs.available', '60%')]), []);
});

test('an amount above the whole disk is another doubt, told elsewhere', (t) => {
  t.deepEqual(doubts([threshold('nodefs.available', '1001')]), []);
});

test('a soft line at the hard one or below it is doubtful, one above is not', (t) => {
  const soft = (line: string) => threshold('nodefs.available', line, { graceSeconds: 60 });
  t.deepEqual(doubts([NODEFS, soft('100')]), [
    { code: 'SOFT_NOT_ABOVE_HARD', signal: 'nodefs.available', soft: 100, hard: 100 },
  ]);
  t.deepEqual(doubts([NODEFS, soft('101')]), []);
});

test('an image disk without any threshold is doubtful, and once more when it is nearly full', (t) => {
  const signals = ['imagefs.available', 'imagefs.inodesFree'];
  t.like(doubts([NODEFS], 'image-disk')[0], { code: 'IMAGEFS_NOT_WATCHED', signals, isNearlyFull: false });
  t.like(doubts([NODEFS], 'image-disk', 100)[0], { isNearlyFull: false });
  t.like(doubts([NODEFS], 'image-disk', 99)[0], { isNearlyFull: true });
  t.deepEqual(doubts([NODEFS, IMAGEFS], 'image-disk'), []);
  t.deepEqual(doubts([NODEFS], 'one-disk'), []);
});

test('a threshold on inodes that nobody counts is doubtful, and so is none on other unknown signals', (t) => {
  const unknown = [
    { signal: 'nodefs.inodesFree', reason: 'not-measurable', detail: 'none' },
    { signal: 'imagefs.inodesFree', reason: 'missing', detail: 'none' },
  ] as const;
  const all = [threshold('nodefs.inodesFree', '5%'), threshold('imagefs.inodesFree', '5%')];
  const sight = { ...sightOf(), unknown };
  t.deepEqual(
    lookDoubts(sight, 'one-disk', settingsOf(all)).map(({ warning }) => warning),
    [{ code: 'SIGNAL_NOT_APPLICABLE', signal: 'nodefs.inodesFree' }],
  );
});
