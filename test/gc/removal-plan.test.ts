import test from 'ava';
import { changeSince, cutOf, keyOf } from '../../src/gc/removal-plan.js';
import { entry, removalPlan } from '../fakes/removal-plan.js';

for (const [title, plan, cut] of [
  [
    'the line lies where the target is reached',
    removalPlan([entry('a', { frees: 30 }), entry('b', { frees: 20 }), entry('c', { frees: 9 })]),
    { after: 2, expected: 59, basis: 'known' },
  ],
  [
    'one byte short is not reached',
    removalPlan([entry('a', { frees: 49 })]),
    { after: null, expected: 49, basis: 'known' },
  ],
  [
    'what stays frees nothing',
    removalPlan([entry('a', { goes: false, frees: 99 })]),
    { after: null, expected: 0, basis: 'known' },
  ],
  [
    'what is reached already needs nothing',
    removalPlan([entry('a', { frees: 1 })], { available: 150 }),
    { after: 0, expected: 1, basis: 'known' },
  ],
  [
    'what nobody knows is taken as claimed, and that is said',
    removalPlan([entry('a', { claimed: 60 })]),
    { after: 1, expected: 60, basis: 'claimed' },
  ],
  [
    'what lies past the line does not make it doubtful',
    removalPlan([entry('a', { frees: 60 }), entry('b')]),
    { after: 1, expected: 60, basis: 'known' },
  ],
  [
    'what is neither known nor claimed counts as nothing',
    removalPlan([entry('a'), entry('b', { frees: 50 })]),
    { after: 2, expected: 50, basis: 'claimed' },
  ],
  [
    'without a target there is no line',
    removalPlan([entry('a', { frees: 60 })], { goals: [] }),
    { after: null, expected: 60, basis: 'known' },
  ],
  [
    'inodes are told like bytes, and nothing is claimed of them',
    removalPlan([entry('a', { frees: 60 }), entry('b', { claimed: 99 })], { signal: 'nodefs.inodesFree' }),
    { after: null, expected: 60, basis: 'unknown' },
  ],
] as const) {
  test(title, (t) => {
    t.deepEqual(cutOf(plan), cut);
  });
}

test('a planned entry has changed when it is gone, or stays now; another kind with its id is not it', (t) => {
  const now = (...entries: readonly ReturnType<typeof entry>[]) => new Map(entries.map((each) => [keyOf(each), each]));
  t.is(changeSince(entry('a'), now(entry('a', { why: 'last used 3 s ago' }))), null);
  t.is(changeSince(entry('a'), now(entry('a', { goes: false, why: 'used by container c' }))), 'used by container c');
  t.is(changeSince(entry('a'), now(entry('a', { what: 'sandbox' }))), 'it is gone already');
});
