import test from 'ava';
import { withinScope } from '../../src/gc/owner-scope.js';

const PLAN = [
  { why: 'its pod is gone' },
  { why: 'its pod has finished' },
  { why: 'the last of a live pod, under pressure' },
];

test('the scope keeps the order and leaves out what belongs to pods that are there', (t) => {
  t.deepEqual(withinScope('all', PLAN), PLAN);
  t.deepEqual(withinScope('gone-pods', PLAN), PLAN.slice(0, 1));
  t.deepEqual(withinScope('images', PLAN), []);
});
