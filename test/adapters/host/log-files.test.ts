import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { hostLogFiles } from '../../../src/adapters/host/log-files.js';
import { PortError } from '../../../src/ports/port-error.js';
import { canRun, MOUNTING, run, scratch } from './real.js';

const files = hostLogFiles();

test('a compressed copy holds the same lines and has the mode of its source', async (t) => {
  const root = scratch(t);
  const text = 'a line that comes again and again\n'.repeat(10_000);
  writeFileSync(join(root, 'log'), text);
  chmodSync(join(root, 'log'), 0o640);
  writeFileSync(join(root, 'log.tmp'), 'left behind by a compression that broke off');
  await files.compress(join(root, 'log'), join(root, 'log.tmp'));
  t.is(gunzipSync(readFileSync(join(root, 'log.tmp'))).toString(), text);
  t.is(statSync(join(root, 'log.tmp')).mode & 0o777, 0o640);
  t.is(readFileSync(join(root, 'log'), 'utf8'), text);
});

test('a copy onto a full disk fails and leaves the source', async (t) => {
  if (!canRun(t, MOUNTING)) return;
  const root = scratch(t);
  run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'small', root);
  try {
    // Random bytes do not get smaller: there is room for the source alone.
    writeFileSync(join(root, 'log'), randomBytes(48 * 1024));
    await t.throwsAsync(files.compress(join(root, 'log'), join(root, 'log.tmp')), { instanceOf: PortError });
    t.is(statSync(join(root, 'log')).size, 48 * 1024);
  } finally {
    run('umount', root);
  }
});

test('a size is that of the file a link leads to; a link that leads nowhere has none', async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, 'log'), '12345');
  symlinkSync(join(root, 'log'), join(root, 'link'));
  symlinkSync(join(root, 'nothing'), join(root, 'dead'));
  const sizes = await Promise.all(['log', 'link', 'dead', 'nothing'].map((name) => files.size(join(root, name))));
  t.deepEqual(sizes.map(Number), [5, 5, 0, 0]);
  t.deepEqual(sizes.slice(2), [null, null]);
});

test('a link is removed by itself, and what is not there is removed already', async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, 'log'), 'lines');
  symlinkSync(join(root, 'log'), join(root, 'link'));
  await files.remove(join(root, 'link'));
  await files.remove(join(root, 'link'));
  t.deepEqual(await files.list(root), ['log']);
});

test('a directory is no log: it is not removed', async (t) => {
  const root = scratch(t);
  mkdirSync(join(root, 'directory'));
  await t.throwsAsync(files.remove(join(root, 'directory')), { instanceOf: PortError });
  t.true(existsSync(join(root, 'directory')));
});

test('a directory that is not there lists as none, and one that cannot be read does not', async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, 'file'), '');
  t.is(await files.list(join(root, 'nothing')), null);
  await t.throwsAsync(files.list(join(root, 'file')), { instanceOf: PortError });
});

test('a rename gives the file its other name', async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, 'log'), 'lines');
  await files.rename(join(root, 'log'), join(root, 'log.20240102-030405'));
  t.deepEqual(await files.list(root), ['log.20240102-030405']);
});
