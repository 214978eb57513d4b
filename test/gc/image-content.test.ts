import test from 'ava';
import { contentOfLayers, freedInOrder, type ImageContent, NO_CONTENT, sharesOf } from '../../src/gc/image-content.js';
import { type Bytes, bytes } from '../../src/units/units.js';

function content(
  parts: Readonly<Record<string, readonly string[]>>,
  sizes: Readonly<Record<string, number | null>>,
  keptElsewhere: readonly string[] = [],
): ImageContent {
  const known = Object.entries(sizes).map(([part, size]): [string, Bytes | null] => [
    part,
    size === null ? null : bytes(size),
  ]);
  const layers = new Set(Object.values(parts).flat());
  return {
    ...NO_CONTENT,
    parts: new Map(Object.entries(parts)),
    bytes: new Map(known),
    layers,
    keptElsewhere: new Set(keptElsewhere),
  };
}

const SIZES = { base: 100, a: 10, b: 20 };

test('what two images share is unique to neither, and comes back with the second', (t) => {
  const both = content({ a: ['base', 'a'], b: ['base', 'b'] }, SIZES);
  t.deepEqual(sharesOf(both, 'bytes').get('a'), { unique: 10, own: 1, shared: 1 });
  t.deepEqual(freedInOrder(['a', 'b'], both, 'bytes'), [10, 120]);
  t.deepEqual(freedInOrder(['b', 'a'], both, 'bytes'), [20, 110]);
  t.deepEqual(freedInOrder(['b'], both, 'bytes'), [20]);
});

test('what something else keeps never comes back', (t) => {
  const used = content({ a: ['base', 'a'], b: ['base', 'b'] }, SIZES, ['base']);
  t.deepEqual(freedInOrder(['a', 'b'], used, 'bytes'), [10, 20]);
});

test('a part that an image has twice is there once', (t) => {
  const twice = content({ a: ['a', 'a'], b: ['base', 'b', 'b'] }, SIZES);
  t.deepEqual(sharesOf(twice, 'bytes').get('a'), { unique: 10, own: 1, shared: 0 });
  t.deepEqual(freedInOrder(['a', 'b'], twice, 'bytes'), [10, 120]);
});

test('one own part of unknown size makes the whole unknown, never smaller; a shared one does not', (t) => {
  const doubtful = content({ a: ['base', 'a'], b: ['base', 'b'] }, { a: null, b: 20, base: null });
  t.deepEqual(sharesOf(doubtful, 'bytes').get('a'), { unique: null, own: 1, shared: 1 });
  t.deepEqual(sharesOf(doubtful, 'bytes').get('b'), { unique: 20, own: 1, shared: 1 });
  t.deepEqual(freedInOrder(['a', 'b'], doubtful, 'bytes'), [null, null], 'the second takes the shared one along');
});

test('an image of which nothing is known frees an unknown amount, one without parts nothing', (t) => {
  const known = content({ empty: [] }, {});
  t.deepEqual(freedInOrder(['stranger', 'empty'], known, 'bytes'), [null, 0]);
});

test('layers are shared as far as images begin alike, and their sizes are unknown', (t) => {
  const layers = contentOfLayers(
    new Map([
      ['a', ['base', 'x', 'top']],
      ['b', ['base', 'y', 'top']],
      ['c', ['top']],
    ]),
  );
  t.deepEqual(sharesOf(layers, 'bytes').get('a'), { unique: null, own: 2, shared: 1 });
  t.deepEqual(sharesOf(layers, 'bytes').get('c'), { unique: null, own: 1, shared: 0 });
});
