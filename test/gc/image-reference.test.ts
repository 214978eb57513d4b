import test from 'ava';
import { bareId, fullReference, looksLikeId } from '../../src/gc/image-reference.js';

const HEX = '0123456789abcdef'.repeat(4);

const full = test.macro({
  exec(t, reference: string, expected: string) {
    t.is(fullReference(reference), expected);
    t.is(fullReference(expected), expected);
  },
  title: (title, reference: string, expected: string) => `${title ?? 'a full reference'}: ${reference} is ${expected}`,
});

test('a bare name lies in the library, tagged latest', full, 'nginx', 'docker.io/library/nginx:latest');
test('a tag is kept', full, 'nginx:1.27', 'docker.io/library/nginx:1.27');
test('one part before the slash is a user of the default registry', full, 'me/app', 'docker.io/me/app:latest');
test('a full form stays as it is', full, 'docker.io/library/nginx:latest', 'docker.io/library/nginx:latest');
test('the default registry without library', full, 'docker.io/nginx', 'docker.io/library/nginx:latest');
test('the default registry by its old name', full, 'index.docker.io/nginx:1', 'docker.io/library/nginx:1');
test('the default registry by its old name, with a user', full, 'index.docker.io/me/app', 'docker.io/me/app:latest');
test('a name with a point is a registry', full, 'quay.io/me/app', 'quay.io/me/app:latest');
test('a name with a port is a registry, and the port is no tag', full, 'registry:5000/app', 'registry:5000/app:latest');
test('localhost is a registry', full, 'localhost/app', 'localhost/app:latest');
test('localhost alone is a name', full, 'localhost', 'docker.io/library/localhost:latest');
test('a name that only begins with localhost is a user', full, 'localhosts/app', 'docker.io/localhosts/app:latest');
test('a digest needs no tag', full, `nginx@sha256:${HEX}`, `docker.io/library/nginx@sha256:${HEX}`);
test('a tag beside a digest is kept', full, `me/app:1@sha256:${HEX}`, `docker.io/me/app:1@sha256:${HEX}`);

for (const [text, expected] of [
  [HEX, true],
  [`sha256:${HEX}`, true],
  ['0123456789ab', true],
  ['0123456789a', false],
  [`${HEX}0`, false],
  ['0123456789AB', false],
  ['nginx', false],
  [`sha512:${HEX}`, false],
] as const) {
  test(`${text} ${expected ? 'could be' : 'is not'} an id or the beginning of one`, (t) => {
    t.is(looksLikeId(text), expected);
  });
}

test('an id is compared without its algorithm', (t) => {
  t.is(bareId(`sha256:${HEX}`), HEX);
  t.is(bareId(HEX), HEX);
});
