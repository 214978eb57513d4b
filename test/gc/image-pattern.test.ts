import test from 'ava';
import { parseLabelRule, whyNeverFits } from '../../src/gc/image-pattern.js';

for (const [pattern, why] of [
  ['my image', 'no image reference has the character " ", here at position 3'],
  ['^nginx$', 'no image reference has the character "^", here at position 1'],
  ['nginx:', 'no image reference ends with ":"'],
  ['docker.io/', 'no image reference ends with "/"'],
  ['nginx@', 'no image reference ends with "@"'],
  ['/nginx', 'no image reference begins with a slash'],
  ['docker.io//nginx', 'no image reference has two slashes in a row'],
  ['a@b@c', 'no image reference has more than one @'],
  ['Nginx:1', 'no repository has capital letters'],
  ['registry.local/Team/app', 'no repository has capital letters'],
  ['nginx:-1', 'this is no tag that an image can have'],
  [`nginx:${'1'.repeat(129)}`, 'this is no tag that an image can have'],
  ['nginx@sha256:abc', 'a sha256 digest has 64 hexadecimal digits'],
] as const) {
  test(`the pattern "${pattern.slice(0, 30)}" can never fit: ${why}`, (t) => {
    t.is(whyNeverFits(pattern), why);
  });
}

for (const pattern of [
  'nginx',
  'nginx:1.27-Alpine',
  'Registry.Local:5000/team/app:V1',
  'localhost/app',
  '[::1]:5000/app:1',
  `nginx@sha256:${'0'.repeat(64)}`,
  'nginx:1@sha256:*',
  '*Team*',
  '99dea4a29c24',
  '*',
]) {
  test(`the pattern "${pattern.slice(0, 40)}" may fit`, (t) => {
    t.is(whyNeverFits(pattern), null);
  });
}

test('a rule on labels has a key, and a value where one is named', (t) => {
  t.deepEqual(parseLabelRule('keep'), { text: 'keep', key: 'keep', value: null });
  t.deepEqual(parseLabelRule('a/b = x=y '), { text: 'a/b = x=y ', key: 'a/b', value: 'x=y' });
  t.deepEqual(parseLabelRule('keep='), { text: 'keep=', key: 'keep', value: '' });
  t.is(parseLabelRule('=x'), null);
});
