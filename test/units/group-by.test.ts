import test from 'ava';
import { groupBy } from '../../src/units/group-by.js';

test('groups come in the order of their first item, and items keep theirs', (t) => {
  t.deepEqual(
    [...groupBy(['bb', 'a', 'cc', 'd'], (text) => text.length)],
    [
      [2, ['bb', 'cc']],
      [1, ['a', 'd']],
    ],
  );
});

test('nothing makes no groups', (t) => {
  t.is(groupBy([], () => 'key').size, 0);
});
