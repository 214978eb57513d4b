import test from 'ava';
import { trackImages } from '../../src/gc/image-history.js';
import { at, image } from '../fakes/builders.js';

test('a new image is first seen now, and was never used', (t) => {
  t.deepEqual(
    [...trackImages(new Map(), [image('a')], new Map(), at(5))],
    [['a', { firstSeen: at(5), lastUsed: null }]],
  );
});

test('an image in use is used now, even when it is new', (t) => {
  const history = trackImages(new Map(), [image('a')], new Set(['a']), at(5));
  t.deepEqual(history.get('a'), { firstSeen: at(5), lastUsed: at(5) });
});

test('the first sight stays, and the last use stays when it is no longer used', (t) => {
  const used = trackImages(new Map(), [image('a')], new Set(['a']), at(5));
  const later = trackImages(used, [image('a')], new Set(), at(9));
  t.deepEqual(later.get('a'), { firstSeen: at(5), lastUsed: at(5) });
});

test('an image that was removed and pulled again is new', (t) => {
  const first = trackImages(new Map(), [image('a')], new Set(['a']), at(1));
  const without = trackImages(first, [], new Set(['a']), at(2));
  t.is(without.size, 0);
  t.deepEqual(trackImages(without, [image('a')], new Set(), at(3)).get('a'), { firstSeen: at(3), lastUsed: null });
});
