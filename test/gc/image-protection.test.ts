import test from 'ava';
import { compileProtection } from '../../src/gc/image-protection.js';
import { image } from '../fakes/builders.js';

const HEX = '0123456789abcdef'.repeat(4);
const NGINX = image(`sha256:${HEX}`, {
  tags: ['docker.io/library/nginx:latest', 'registry.k8s.io/pause:3.10'],
  digests: [`docker.io/library/nginx@sha256:${'f'.repeat(64)}`],
});

for (const [pattern, protects, why] of [
  ['docker.io/library/nginx:latest', true, 'the tag as listed'],
  ['nginx', true, 'the short form of a tag'],
  ['nginx:latest', true, 'the short form with a tag'],
  ['docker.io/nginx', true, 'the registry without library'],
  ['nginx:1.27', false, 'another tag'],
  ['ngin', false, 'a beginning is not the whole'],
  ['registry.k8s.io/pause:3.10', true, 'any of the tags'],
  ['registry.k8s.io/pause:3x10', false, 'a point is a point, in the image as in the pattern'],
  ['registryxk8s.io/pause:3.10', false, 'a point is a point'],
  ['registry.k8s.io/*', true, 'a star stands for slashes and colons too'],
  ['*pause*', true, 'stars on both sides'],
  ['*/pause', false, 'the end must fit as well'],
  ['*', true, 'a star alone fits everything'],
  [`docker.io/library/nginx@sha256:${'f'.repeat(64)}`, true, 'a digest'],
  [`nginx@sha256:${'f'.repeat(64)}`, true, 'the short form of a digest'],
  [`sha256:${HEX}`, true, 'the whole id'],
  [HEX, true, 'the whole id without its algorithm'],
  [HEX.slice(0, 12), true, 'twelve digits of the id'],
  [`sha256:${HEX.slice(0, 12)}`, true, 'twelve digits behind the algorithm'],
  [HEX.slice(0, 11), false, 'eleven digits are a name'],
  [HEX.slice(1, 13), false, 'digits from the middle'],
  ['', false, 'an empty pattern fits nothing'],
  ['nginx$|.+', false, 'what means something in an expression is literal'],
  ['[n]ginx', false, 'brackets are literal'],
] as const) {
  test(`the pattern "${pattern}" ${protects ? 'protects' : 'does not protect'}: ${why}`, (t) => {
    t.is(compileProtection([pattern])(NGINX), protects ? pattern : null);
  });
}

test('an image without tags is protected by its id or digest alone', (t) => {
  const bare = image(`sha256:${HEX}`);
  t.is(compileProtection(['nginx'])(bare), null);
  t.is(compileProtection(['nginx', HEX.slice(0, 12)])(bare), HEX.slice(0, 12));
});

test('an id is no name in the library of the default registry', (t) => {
  t.is(compileProtection(['docker.io/*'])(image(`sha256:${HEX}`, { tags: ['registry.local/app:1'] })), null);
});

test('no patterns protect nothing', (t) => {
  t.is(compileProtection([])(NGINX), null);
});
