import { createHash } from 'node:crypto';
import test from 'ava';
import { layerArchive, ociArchive } from './image.js';
import { tar } from './tar.js';

const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

test('an image with equal arguments has equal bytes, and another seed has others', (t) => {
  const image = (seed: string) => ociArchive({ name: 'local.test/a:1', layers: [{ kind: 'random', kib: 64, seed }] });
  t.is(sha256(image('a')), sha256(image('a')));
  t.not(sha256(image('a')), sha256(image('b')));
});

test('images that share a layer share its blob', (t) => {
  const shared = { kind: 'random', kib: 8, seed: 'shared' } as const;
  const blob = sha256(layerArchive(shared));
  const small = ociArchive({ name: 'local.test/a:1', layers: [shared] });
  const large = ociArchive({ name: 'local.test/b:1', layers: [shared, { kind: 'files', count: 3, seed: 'x' }] });
  t.true(small.includes(`blobs/sha256/${blob}`));
  t.true(large.includes(`blobs/sha256/${blob}`));
});

test('a layer that is listed twice is stored once', (t) => {
  const layer = { kind: 'random', kib: 64, seed: 'twice' } as const;
  const archive = ociArchive({ name: 'local.test/a:1', layers: [layer, layer] });
  t.true(archive.length < 2 * 64 * 1024);
});

test('a tar archive names files, directories and links, in blocks of 512 with two empty ones at the end', (t) => {
  const archive = tar([
    { kind: 'directory', name: 'bin' },
    { kind: 'file', name: 'bin/tool', data: Buffer.from('#!'), mode: 0o755 },
    { kind: 'symlink', name: 'bin/alias', target: 'tool' },
  ]);
  t.is(archive.length, 512 * (1 + 2 + 1 + 2));
  t.is(archive.toString('latin1', 512 + 100, 512 + 107), '0000755');
  t.is(archive.toString('latin1', 512 + 124, 512 + 135), '00000000002');
  t.is(archive.toString('latin1', 1024, 1026), '#!');
  t.is(archive.toString('latin1', 1536 + 156, 1536 + 161), '2tool');
});

test('a name that the format has no room for is refused', (t) => {
  t.throws(() => tar([{ kind: 'directory', name: 'x'.repeat(101) }]), { message: /names end at 100 bytes/ });
});
