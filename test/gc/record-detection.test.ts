import test from 'ava';
import { type CollectionRecords, type ListedImage, recordDetection } from '../../src/gc/image-collection.js';
import { bytes } from '../../src/units/units.js';
import { at, image } from '../fakes/builders.js';

function listed(id: string, more: Partial<ListedImage> = {}): ListedImage {
  return { ...image(id), size: bytes(1), runtimeHandler: '', ...more };
}

function detected(
  before: CollectionRecords,
  images: readonly ListedImage[],
  inUse: readonly string[],
  seconds: number,
): CollectionRecords {
  const times = { detectTime: at(seconds), now: at(seconds) };
  return recordDetection(before, images, new Set(inUse), times, false);
}

test('a new image is first seen now, and was never used', (t) => {
  const record = detected(new Map(), [listed('a')], [], 5).get('a');
  t.deepEqual([record?.firstDetected, record?.lastUsed], [at(5), null]);
});

test('an image in use is used now, even when it is new', (t) => {
  const record = detected(new Map(), [listed('a')], ['a'], 5).get('a');
  t.deepEqual([record?.firstDetected, record?.lastUsed], [at(5), at(5)]);
});

test('the first sight stays, and the last use stays when it is no longer used', (t) => {
  const used = detected(new Map(), [listed('a')], ['a'], 5);
  const record = detected(used, [listed('a')], [], 9).get('a');
  t.deepEqual([record?.firstDetected, record?.lastUsed], [at(5), at(5)]);
});

test('an image that was removed and pulled again is new', (t) => {
  const first = detected(new Map(), [listed('a')], ['a'], 1);
  const without = detected(first, [], ['a'], 2);
  t.is(without.size, 0);
  const record = detected(without, [listed('a')], [], 3).get('a');
  t.deepEqual([record?.firstDetected, record?.lastUsed], [at(3), null]);
});

for (const change of [{ size: bytes(2) }, { pinned: true }]) {
  test(`an image that nobody used meanwhile is remembered with its new ${Object.keys(change)[0]}`, (t) => {
    const first = detected(new Map(), [listed('a')], [], 1);
    t.like(detected(first, [listed('a', change)], [], 2).get('a'), { ...change, firstDetected: at(1) });
  });
}

test('of two entries of one image the later decides its size and the first its handler', (t) => {
  const twice = [listed('a', { runtimeHandler: 'kata' }), listed('a', { size: bytes(7) })];
  const first = detected(new Map(), twice, [], 1);
  t.like(first.get('a'), { size: bytes(7), runtimeHandler: 'kata' });
  t.like(detected(first, twice, [], 2).get('a'), { size: bytes(7), runtimeHandler: 'kata' });
});
