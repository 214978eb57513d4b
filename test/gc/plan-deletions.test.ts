import test from 'ava';
import { keptByDeletor } from '../../src/gc/plan-deletions.js';

const kept = test.macro((t, limit: number | null, expected: number) => {
  t.is(keptByDeletor(limit), expected);
});

test('the deletor keeps what periodic collecting keeps', kept, 3, 3);
test('it keeps one where periodic collecting keeps none', kept, 0, 1);
test('it keeps one where periodic collecting has no limit', kept, null, 1);
