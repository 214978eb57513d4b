import test from 'ava';
import { layoutOf } from '../../src/eviction/layout.js';

for (const [nodefs, imagefs, containerfs, layout] of [
  ['a', 'a', 'a', 'one-disk'],
  ['a', 'b', 'b', 'image-disk'],
  ['a', 'b', 'a', 'split-disks'],
  // Three disks: no runtime has them; writable layers apart from images make it split disks.
  ['a', 'b', 'c', 'split-disks'],
  // Split without an image disk of its own means nothing; the kubelet serves it like one disk.
  ['a', 'a', 'c', 'one-disk'],
] as const) {
  test(`nodefs on ${nodefs}, imagefs on ${imagefs} and containerfs on ${containerfs} is ${layout}`, (t) => {
    t.is(layoutOf({ nodefs, imagefs, containerfs }), layout);
  });
}
