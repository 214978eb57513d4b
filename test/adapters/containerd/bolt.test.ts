import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type BoltBucket, BoltError, readMeta, readRoot } from '../../../src/adapters/containerd/bolt.js';
import { readBoltFile } from '../../../src/adapters/containerd/bolt-file.js';
import { type BoltLayout, boltFile, type Tree, withTransaction } from './bolt-writer.js';

const TREE: Tree = {
  v1: { images: { a: { target: { digest: 'sha256:1' } }, b: {} }, version: '3' },
  empty: {},
  ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index + 10}`, `value ${index}`])),
};

function contentOf(bucket: BoltBucket): Tree {
  const values = [...bucket.values()].map(([key, value]): [string, Tree[string]] => [key, value.toString()]);
  const buckets = [...bucket.buckets()].map(([key, each]): [string, Tree[string]] => [key, contentOf(each)]);
  return Object.fromEntries([...values, ...buckets]);
}

function read(file: Buffer): BoltBucket {
  return readRoot(file, readMeta(file));
}

for (const [title, layout] of [
  ['in one page', {}],
  ['with branches', { perPage: 3 }],
  ['with small pages that flow over', { pageSize: 512 }],
  ['with large pages', { pageSize: 65_536 }],
  ['with every bucket in pages of its own', { inline: false, perPage: 2 }],
] as const satisfies readonly (readonly [string, BoltLayout])[]) {
  test(`a file ${title} is read back whole`, (t) => {
    t.deepEqual(contentOf(read(boltFile(TREE, layout))), TREE);
  });
}

test('values and buckets are told apart, and what is not there is null', (t) => {
  const root = read(boltFile(TREE, { perPage: 3 }));
  t.is(root.value('key-49')?.toString(), 'value 39');
  t.is(root.bucket('v1')?.bucket('images')?.bucket('a')?.bucket('target')?.value('digest')?.toString(), 'sha256:1');
  t.is(root.value('v1'), null);
  t.is(root.bucket('key-49'), null);
  t.is(root.bucket('nothing'), null);
});

test('of the two beginnings the later whole one counts', (t) => {
  const file = boltFile(TREE, { transaction: 9n });
  t.is(readMeta(file).transaction, 9n);
  t.is(readMeta(withTransaction(file, 4_096, 0, 12n)).transaction, 12n);
  const torn = Buffer.from(file);
  torn.writeUInt8(1, 4_096 + 16 + 20);
  t.is(readMeta(torn).transaction, 8n);
  const tornFirst = Buffer.from(file);
  tornFirst.writeUInt8(1, 16 + 20);
  t.is(readMeta(tornFirst).transaction, 9n);
});

test('what is no bolt file, or a broken one, is said and not guessed at', (t) => {
  t.throws(() => readMeta(Buffer.alloc(200_000)), { instanceOf: BoltError });
  t.throws(() => readMeta(Buffer.alloc(10)), { instanceOf: BoltError });
  const file = boltFile(TREE, { perPage: 3 });
  t.throws(() => contentOf(read(file.subarray(0, file.length - 20 * 4_096))), { instanceOf: BoltError });
  const looped = Buffer.from(file);
  const meta = readMeta(looped);
  looped.writeBigUInt64LE(meta.root, Number(meta.root) * 4_096 + 16 + 8);
  t.throws(() => contentOf(read(looped)), { instanceOf: BoltError, message: /lead back to itself/ });
});

function stored(t: ExecutionContext, content: Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'reclaimd-bolt-'));
  t.teardown(() => {
    rmSync(directory, { recursive: true });
  });
  const path = join(directory, 'meta.db');
  writeFileSync(path, content);
  return path;
}

test('a file is read from the disk', async (t) => {
  t.deepEqual(contentOf(await readBoltFile(stored(t, boltFile(TREE)))), TREE);
});

test('a file that is not there, or is none, is named with the reason', async (t) => {
  const path = stored(t, Buffer.from('nothing of the kind'));
  await t.throwsAsync(readBoltFile(path), {
    message: `Cannot read what containerd keeps as the file must be a whole bolt file: ${path}`,
  });
  await t.throwsAsync(readBoltFile(`${path}x`), { message: /the file must be there and readable/ });
});
