import { fc, testProp } from '@fast-check/ava';
import test from 'ava';
import { logStamp, logsInReadingOrder, planRotation, rotatedName } from '../../src/gc/plan-rotation.js';
import { instant } from '../../src/units/units.js';

const name = test.macro((t, stamp: string, siblings: readonly string[], expected: string) => {
  t.is(rotatedName('a.log', stamp, siblings), expected);
});

test('the rotated name carries the time', name, '20240102-030405', [], 'a.log.20240102-030405');
test(
  'it does so behind older files',
  name,
  '20240102-030405',
  ['a.log.20240101-000000.gz', 'a.log.20240102-030404'],
  'a.log.20240102-030405',
);
test(
  'a second one within the second is counted',
  name,
  '20240102-030405',
  ['a.log.20240102-030405'],
  'a.log.20240102-030405_000001',
);
test(
  'so is a third, whether the second is compressed or not',
  name,
  '20240102-030405',
  ['a.log.20240102-030405.gz', 'a.log.20240102-030405_000001.gz'],
  'a.log.20240102-030405_000002',
);
test(
  'after the clock was set back the count goes on from the newest name',
  name,
  '20241027-020005',
  ['a.log.20241027-025959.gz'],
  'a.log.20241027-025959_000001',
);
test(
  'the last count is counted on',
  name,
  '20240102-030405',
  ['a.log.20240102-030405_999999'],
  'a.log.20240102-030405_999999_000001',
);
test(
  'a name that is no time is no reason to give up ours',
  name,
  '20240102-030405',
  ['a.log.99999999-999999.gz', 'a.log.old'],
  'a.log.20240102-030405',
);

const TIMES = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 12 });

testProp('whatever the clock does, names are unique and sort in the order of rotation', [TIMES], (t, seconds) => {
  const files: string[] = [];
  for (const [index, second] of seconds.entries()) {
    const stamp = logStamp(instant(1_700_000_000_000 + second * 1_000));
    const rotated = rotatedName('a.log', stamp, files);
    t.false(files.some((each) => each === rotated || each === `${rotated}.gz`));
    // Every other file has been compressed meanwhile.
    files.push(index % 2 === 0 ? `${rotated}.gz` : rotated);
  }
  t.deepEqual(logsInReadingOrder('a.log', files.toReversed()), [...files, 'a.log']);
});

test('one rotation leaves room for itself and for the current file', (t) => {
  const siblings = ['a.log.3', 'a.log.1.gz', 'a.log.2', 'a.log.2.gz', 'a.log.4.tmp'];
  t.deepEqual(planRotation(siblings, 3), {
    unused: ['a.log.2', 'a.log.4.tmp'],
    excess: ['a.log.1.gz', 'a.log.2.gz'],
    toCompress: ['a.log.3'],
    kept: ['a.log.3'],
  });
});

test(
  'a name with an impossible month is no time, and later ones do not count on from it',
  name,
  '20261201-101010',
  ['a.log.20999901-000000'],
  'a.log.20261201-101010',
);
