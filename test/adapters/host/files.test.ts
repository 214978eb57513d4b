import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { hostFiles } from '../../../src/adapters/host/files.js';
import { treeUsage } from '../../../src/adapters/host/tree-usage.js';
import { milliseconds } from '../../../src/units/units.js';
import { canRun, MOUNTING, program, ROOT, run, scratch } from './real.js';

/** A directory with two files, one of them with two names, a sparse one, and links that lead out of it. */
function tree(t: ExecutionContext): string {
  const root = realpathSync(scratch(t));
  mkdirSync(join(root, 'pod/deep/er'), { recursive: true });
  writeFileSync(join(root, 'pod/log'), Buffer.alloc(100_000, 1));
  linkSync(join(root, 'pod/log'), join(root, 'pod/deep/same-log'));
  writeFileSync(join(root, 'pod/deep/er/sparse'), '');
  truncateSync(join(root, 'pod/deep/er/sparse'), 2 ** 30);
  writeFileSync(join(root, 'outside'), Buffer.alloc(50_000, 1));
  symlinkSync('../outside', join(root, 'pod/link'));
  symlinkSync(root, join(root, 'pod/deep/up'));
  return root;
}

test('usage is what du says', async (t) => {
  if (!canRun(t, program('du'))) return;
  const root = tree(t);
  await using files = hostFiles();
  const [size, inodes] = ['--block-size=1', '--inodes'].map(
    (flag) => run('du', '-sx', flag, join(root, 'pod')).split('\t')[0],
  );
  t.deepEqual((await files.usage(join(root, 'pod'), 1_000)) as unknown, {
    bytes: Number(size),
    inodes: Number(inodes),
    complete: true,
  });
});

test('a path that is not there has no usage, a single file has its own', async (t) => {
  const root = tree(t);
  await using files = hostFiles();
  t.is(await files.usage(join(root, 'none/deeper'), 10), null);
  t.is(await files.usage(join(root, 'outside/deeper'), 10), null);
  t.like(await files.usage(join(root, 'pod/log'), 10), { complete: true });
  await t.throwsAsync(files.usage('relative', 10), { name: 'PortError' });
});

test('a walk that reaches its limit says so', async (t) => {
  const root = tree(t);
  await using files = hostFiles();
  const usage = await files.usage(join(root, 'pod'), 3);
  t.is(usage?.complete, false);
  t.true(usage !== null && usage.inodes <= 3);
});

test('an abort ends the wait at once, and the walk soon', async (t) => {
  const root = tree(t);
  await using files = hostFiles();
  const reason = new Error('enough');
  await t.throwsAsync(files.usage(root, 10, AbortSignal.abort(reason)), { is: reason });
  const controller = new AbortController();
  const walking = files.usage('/usr', 1_000_000_000, controller.signal);
  controller.abort(reason);
  await t.throwsAsync(walking, { is: reason });
  t.like(await files.usage(join(root, 'outside'), 10), { complete: true }, 'the worker is free again');
});

test('a directory that goes away during the walk is no error', (t) => {
  const root = tree(t);
  let asked = 0;
  const usage = treeUsage(root, new Set(), 1_000, () => {
    asked += 1;
    if (asked === 2) run('rm', '-r', join(root, 'pod'));
    return false;
  });
  t.true(usage?.complete);
});

test('removal takes the tree and nothing that links lead to', async (t) => {
  const root = tree(t);
  await using files = hostFiles();
  await files.removeTree(root, 'pod');
  t.deepEqual(readdirSync(root), ['outside']);
  await files.removeTree(root, 'pod');
  await files.removeTree(join(root, 'never/was'), 'pod');
  t.pass('missing is fine');
});

test('a link that is named is removed itself', async (t) => {
  const root = tree(t);
  symlinkSync('pod', join(root, 'alias'));
  await using files = hostFiles();
  await files.removeTree(root, 'alias');
  t.throws(() => lstatSync(join(root, 'alias')), { code: 'ENOENT' });
  t.true(existsSync(join(root, 'pod/log')));
});

test('a name that is not plain is refused', async (t) => {
  const root = tree(t);
  await using files = hostFiles();
  for (const name of ['', '.', '..', 'pod/deep', '/etc', 'a\0b']) {
    await t.throwsAsync(files.removeTree(root, name), { name: 'PortError', message: /plain/ }, JSON.stringify(name));
  }
  t.true(existsSync(join(root, 'pod/deep/er/sparse')));
});

test('what cannot be removed is an error', async (t) => {
  await using files = hostFiles();
  await t.throwsAsync(files.removeTree('/proc', 'self'), { name: 'PortError' });
});

test('a tree of more levels than descriptors may be open is refused', async (t) => {
  const root = realpathSync(scratch(t));
  mkdirSync(join(root, 'top', ...Array.from({ length: 300 }, () => 'd')), { recursive: true });
  await using files = hostFiles();
  await t.throwsAsync(files.removeTree(root, 'top'), { message: /256 levels/ });
});

test('what is mounted in a tree is neither counted nor removed, not even from the same device', async (t) => {
  if (!canRun(t, ROOT, MOUNTING)) return;
  const root = tree(t);
  await using files = hostFiles();
  mkdirSync(join(root, 'precious'));
  writeFileSync(join(root, 'precious/data'), Buffer.alloc(500_000, 1));
  const before = await files.usage(join(root, 'pod'), 1_000);
  mkdirSync(join(root, 'pod/volume'));
  for (const args of [
    ['--bind', join(root, 'precious'), join(root, 'pod/volume')],
    ['-t', 'tmpfs', 'none', join(root, 'pod/volume')],
  ]) {
    run('mount', ...args);
    try {
      t.is((await files.usage(join(root, 'pod'), 1_000))?.bytes, before?.bytes);
      await t.throwsAsync(files.removeTree(root, 'pod'), { message: /mounted in it: .*volume/ });
      await t.throwsAsync(files.removeTree(join(root, 'pod'), 'volume'), { message: /mounted in it/ });
      await t.throwsAsync(files.removeLogs(root, join(root, 'pod/volume/data')), {
        message: /another device or mount/,
      });
    } finally {
      run('umount', join(root, 'pod/volume'));
    }
  }
  t.true(existsSync(join(root, 'precious/data')));
  t.true(existsSync(join(root, 'pod/log')), 'the refusal came before the first removal');
});

test('the logs of a container go with their rotated siblings, and no others', async (t) => {
  const root = realpathSync(scratch(t));
  mkdirSync(join(root, 'pod/app'), { recursive: true });
  for (const name of ['0.log', '0.log.20260101-000000', '0.log.20260101-000000.gz', '0.log.tmp', '1.log', '10.log']) {
    writeFileSync(join(root, 'pod/app', name), 'x');
  }
  mkdirSync(join(root, 'pod/app/0.log.d'));
  await using files = hostFiles();
  await files.removeLogs(root, join(root, 'pod/app/0.log'));
  t.deepEqual(readdirSync(join(root, 'pod/app')).sort(), ['0.log.d', '1.log', '10.log']);
  await files.removeLogs(root, join(root, 'pod/none/0.log'));
  t.pass('missing is fine');
});

test('a root that is not there holds nothing to remove', async (t) => {
  const root = join(realpathSync(scratch(t)), 'none');
  await using files = hostFiles();
  await t.notThrowsAsync(files.removeLogs(root, join(root, 'pod/app/0.log')));
  await t.notThrowsAsync(files.removeTree(root, 'pod'));
});

test('a log outside the root, or behind a link within it, is refused', async (t) => {
  const root = tree(t);
  await using files = hostFiles();
  for (const path of [join(root, '..', 'x.log'), `${root}/pod/../../x.log`, root, `${root}beside/x.log`]) {
    await t.throwsAsync(files.removeLogs(root, path), { name: 'PortError', message: /must lie under/ }, path);
  }
  await t.throwsAsync(files.removeLogs(root, join(root, 'pod/deep/up/outside')), { name: 'PortError' });
  t.true(existsSync(join(root, 'outside')));
});

test('closing rejects what is under way', async (t) => {
  const files = hostFiles();
  const walking = files.usage('/usr', 1_000_000_000);
  const rejected = t.throwsAsync(walking, { name: 'PortError', message: /closed/ });
  await files[Symbol.asyncDispose]();
  await rejected;
  await t.throwsAsync(files.usage('/usr', 1), { message: /must be open/ });
});

test('a walk whose time is over answers with what it has counted, and one that waited for it too', async (t) => {
  await using files = hostFiles();
  const [long, queued] = await Promise.all([
    files.usage('/usr', 1_000_000_000, undefined, milliseconds(20)),
    files.usage('/usr', 1_000_000_000, undefined, milliseconds(1)),
  ]);
  t.is(long?.complete, false);
  t.is(queued?.complete, false);
  t.true((queued?.bytes ?? 0) > 0, 'the directory itself is counted');
});
