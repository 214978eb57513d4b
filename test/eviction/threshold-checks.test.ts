import test from 'ava';
import { LineBook } from '../../src/eviction/evaluate.js';
import type { FsLayout } from '../../src/eviction/layout.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import { checkKubeletFirst, checkThresholds } from '../../src/eviction/threshold-checks.js';
import { observation, seen, threshold } from '../fakes/builders.js';

const SEEN = seen(observation('nodefs.available', 500, 1_000), observation('imagefs.available', 500, 1_000));
const check = (thresholds: readonly Threshold[], layout: FsLayout = 'one-disk') =>
  checkThresholds({
    thresholds,
    observations: SEEN,
    unknown: new Map([['nodefs.inodesFree' as const, { detail: 'btrfs counts no inodes' }]]),
    layout,
    lines: new LineBook(),
  }).map(({ level, text }) => `${level}: ${text.split(':')[0]}`);

for (const [title, line, minReclaim, expected] of [
  ['a line below what is available can fire', '10%', undefined, 'ok: can fire'],
  ['a line on what is available can fire, and is not met', '500', undefined, 'ok: can fire'],
  ['a line above what is available is met', '501', undefined, 'warn: is met now'],
  ['a line at zero never fires', '0%', undefined, 'warn: can never fire'],
  ['a line above the capacity is set aside', '1001', undefined, 'warn: is set aside'],
  ['a target above the capacity never clears', '60%', '50%', 'warn: once met never clears'],
] as const) {
  test(title, (t) => {
    t.deepEqual(check([threshold('nodefs.available', line, minReclaim === undefined ? {} : { minReclaim })]), [
      expected,
    ]);
  });
}

test('a signal without numbers can never fire, and the reason is told', (t) => {
  t.deepEqual(check([threshold('nodefs.inodesFree', '5%')]), ['warn: can never fire as things are']);
});

test('an image disk that nothing watches is worth a warning', (t) => {
  const nodefs = threshold('nodefs.available', '10%');
  t.is(check([nodefs], 'image-disk').length, 2);
  t.is(
    check([nodefs, threshold('imagefs.available', '10%')], 'image-disk').filter((each) => each.startsWith('warn'))
      .length,
    0,
  );
});

test('a kubelet whose line lies as high acts first', (t) => {
  const first = (ours: string, theirs: string) =>
    checkKubeletFirst(
      [threshold('nodefs.available', ours)],
      [threshold('nodefs.available', theirs), threshold('memory.available', '100')],
      SEEN,
      new LineBook(),
    ).length;
  t.is(first('10%', '10%'), 1);
  t.is(first('10%', '150'), 1);
  t.is(first('15%', '10%'), 0);
});
