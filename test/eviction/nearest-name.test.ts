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
