import { fc, testProp } from '@fast-check/ava';
import test from 'ava';
import { nearestName } from '../../src/eviction/nearest-name.js';

const meant = test.macro({
  exec(t, text: string, names: readonly string[], expected: string | null) {
    t.is(nearestName(text, names), expected);
  },
  title: (title, text: string) => `"${text}": ${title}`,
});

test('a name itself', meant, 'nodefs', ['imagefs', 'nodefs'], 'nodefs');
test('upper and lower case are equal', meant, 'NODEFS', ['nodefs'], 'nodefs');
test('two letters left out', meant, 'ndef', ['nodefs'], 'nodefs');
test('two letters too many', meant, 'nodefsxy', ['nodefs'], 'nodefs');
test('two letters replaced', meant, 'nXdXfs', ['nodefs'], 'nodefs');
test('one left out and one too many', meant, 'odefsx', ['nodefs'], 'nodefs');
test('three are another name', meant, 'nXXXfs', ['nodefs'], null);
test('three letters left out are another name', meant, 'def', ['nodefs'], null);
test('the nearest, wherever it stands', meant, 'abcd', ['abXX', 'abcX', 'aXXd'], 'abcX');
test('of equally near ones the first', meant, 'abcd', ['abcX', 'Xbcd'], 'abcX');
test('no names', meant, 'a', [], null);

/** The distance by its definition, without any table. */
function distance(left: string, right: string): number {
  if (left === '' || right === '') return left.length + right.length;
  const rest = [left.slice(1), right.slice(1)] as const;
  if (left[0] === right[0]) return distance(...rest);
  return 1 + Math.min(distance(...rest), distance(rest[0], right), distance(left, rest[1]));
}

testProp(
  'a name is near when at most two letters are inserted, left out or replaced',
  [
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 }),
  ],
  (t, text, known) => {
    t.is(nearestName(text, [known]), distance(text, known) <= 2 ? known : null);
  },
);
