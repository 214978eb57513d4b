import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import Database from 'libsql';
import { type FileStore, type FileStoreOptions, fileStore } from '../../../src/adapters/store/file-store.js';
import { StateFile } from '../../../src/adapters/store/state-file.js';
import type { StoreChange, StoreNews } from '../../../src/ports/store.js';
import { canRun, MOUNTING, type Need, program, ROOT, run, scratch, until } from '../host/real.js';

const CHILD = fileURLToPath(new URL('./store-child.js', import.meta.url));
const MIB = 2 ** 20;

function image(key: string, value: StoreChange['value']): StoreChange {
  return { shelf: 'images', key, value };
}

function storeAt(path: string, options: Partial<FileStoreOptions> = {}): FileStore {
  return fileStore({ path, readOnly: false, writeEveryMs: 0, retryEveryMs: 20, ...options });
}

/** What another process would find in the file. */
function found(path: string): Record<string, unknown> {
  const file = new StateFile({ path, readOnly: true });
  const { entries } = file.open();
  file.close();
  return Object.fromEntries(
    entries.flatMap(([shelf, key, value]) => (shelf === 'images' ? [[key, JSON.parse(value ?? '')]] : [])),
  );
}

/** News so far, from the first. */
function hearing(store: FileStore): () => readonly StoreNews[] {
  const heard: StoreNews[] = [];
  return () => {
    heard.push(...store.takeNews());
    return heard;
  };
}

test.serial(
  'what was saved is there for the next process: the newest of each entry, and not what was deleted',
  async (t) => {
    const path = join(scratch(t), 'deep', 'state.db');
    {
      await using store = storeAt(path);
      t.is((await store.load()).images.size, 0);
      store.save([image('a', { n: 1 }), image('b', [1.5, null, 'ü\u0000']), image('c', true)], 'soon');
      store.save([image('a', { n: 60_000 }), image('c', undefined)], 'soon');
      store.save([{ shelf: 'manager', key: 'a', value: 'another shelf' }], 'soon');
    }
    await using store = storeAt(path);
    const stored = await store.load();
    t.deepEqual(Object.fromEntries(stored.images), { a: { n: 60_000 }, b: [1.5, null, 'ü\u0000'] });
    t.is(stored.manager.get('a'), 'another shelf');
    t.deepEqual(store.takeNews(), []);
    t.is(statSync(path).mode & 0o77, 0, 'the names of pods are nobody else’s concern');
  },
);

test.serial('changes go together about once a second; haste does not wait', async (t) => {
  const path = join(scratch(t), 'state.db');
  await using store = storeAt(path, { writeEveryMs: 600_000 });
  await store.load();
  store.save([image('first', 1)], 'soon');
  await until(() => 'first' in found(path));
  store.save([image('second', 2)], 'soon');
  store.save([image('third', 3)], 'now');
  await until(() => 'third' in found(path));
  t.deepEqual(found(path), { first: 1, second: 2, third: 3 });
  store.save([image('fourth', 4)], 'soon');
  await store[Symbol.asyncDispose]();
  await until(() => 'fourth' in found(path));
});

test.serial(
  'a process that is killed while it writes leaves whole rounds behind, and no more than the last is missing',
  async (t) => {
    const path = join(scratch(t), 'state.db');
    for (let life = 1; life <= 8; life += 1) {
      const child = spawn(process.execPath, [CHILD, path, '40'], { stdio: ['ignore', 'pipe', 'inherit'] });
      t.teardown(() => child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      // At another moment of a write each time.
      for (let spin = 0; spin < life; spin += 1) await new Promise(setImmediate);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const rounds = new Set(Object.values(found(path)).map((value) => JSON.stringify(value)));
      t.is(rounds.size, 1, 'all keys are of one round');
      await using store = storeAt(path);
      t.is((await store.load()).images.size, 40);
      t.deepEqual(store.takeNews(), []);
    }
  },
);

test.serial('what lies there and is none of ours is renamed, said, and kept as it was', async (t) => {
  const directory = scratch(t);
  const foreign = join(directory, 'foreign.db');
  new Database(foreign).exec('CREATE TABLE theirs (x); INSERT INTO theirs VALUES (7)');
  for (const [name, content] of [
    ['garbage', Buffer.alloc(100_000, 0xa5)],
    ['text', Buffer.from('kept by somebody else\n')],
    ['a database of another program', readFileSync(foreign)],
  ] as const) {
    const path = join(directory, name, 'state.db');
    mkdirSync(dirname(path));
    writeFileSync(path, content);
    await using store = storeAt(path);
    t.is((await store.load()).images.size, 0, name);
    const [news] = store.takeNews();
    const renamedTo = news?.kind === 'begun-anew' ? (news.renamedTo ?? '') : '';
    t.deepEqual(readFileSync(renamedTo), content, name);
    store.save([image('a', 1)], 'now');
    await until(() => 'a' in found(path));
  }
});

test.serial('a file cut short is set aside and not half believed', async (t) => {
  const path = join(scratch(t), 'state.db');
  {
    await using store = storeAt(path);
    await store.load();
    store.save(
      Array.from({ length: 500 }, (_, n) => image(`sha256:${n}`, 'x'.repeat(100))),
      'now',
    );
  }
  await until(() => Object.keys(found(path)).length === 500);
  const whole = new Database(path);
  whole.pragma('wal_checkpoint(TRUNCATE)');
  writeFileSync(`${path}.cut`, readFileSync(path).subarray(0, 8_192));
  for (const suffix of ['-wal', '-shm']) if (existsSync(`${path}${suffix}`)) unlinkSync(`${path}${suffix}`);
  renameSync(`${path}.cut`, path);
  await using store = storeAt(path);
  t.is((await store.load()).images.size, 0);
  t.like(store.takeNews()[0], { kind: 'begun-anew' });
});

test.serial('a store of a newer version is set aside, for the program that can read it', async (t) => {
  const path = join(scratch(t), 'state.db');
  {
    await using store = storeAt(path);
    await store.load();
    store.save([image('a', 1)], 'now');
  }
  await until(() => 'a' in found(path));
  new Database(path).pragma('user_version = 99');
  await using store = storeAt(path);
  t.is((await store.load()).images.size, 0);
  const [news] = store.takeNews();
  t.regex(news?.kind === 'begun-anew' ? news.message : '', /newer version \(schema 99\)/);
  const renamed = readdirSync(dirname(path)).find((name) => /set-aside-[^.]*Z$/.test(name)) ?? '';
  const [row] = new Database(join(dirname(path), renamed)).prepare('SELECT value FROM entry').raw().all() as string[][];
  t.deepEqual(row?.slice(0, 1), ['1']);
});

test.serial(
  'a store that was made and not filled, of the version before the first, becomes one of today',
  async (t) => {
    const path = join(scratch(t), 'state.db');
    new Database(path).pragma(`application_id = ${0x72_63_6c_6d}`);
    await using store = storeAt(path);
    await store.load();
    store.save([image('a', 1)], 'now');
    await until(() => 'a' in found(path));
    t.deepEqual(store.takeNews(), []);
  },
);

test.serial(
  'a directory that cannot be made, and one in place of the file, are said; nothing is renamed',
  async (t) => {
    const directory = scratch(t);
    writeFileSync(join(directory, 'file'), '');
    const inFile = storeAt(join(directory, 'file', 'state.db'));
    await t.throwsAsync(inFile.load(), { name: 'PortError', message: /Cannot use the state file .*file\/state.db: / });
    mkdirSync(join(directory, 'state.db'));
    const onDirectory = storeAt(join(directory, 'state.db'));
    await t.throwsAsync(onDirectory.load(), { name: 'PortError' });
    onDirectory.save([image('a', 1)], 'now');
    await onDirectory[Symbol.asyncDispose]();
    t.deepEqual(readdirSync(directory).sort(), ['file', 'state.db']);
  },
);

test.serial('a file that somebody else writes is not opened', async (t) => {
  const path = join(scratch(t), 'state.db');
  const store = storeAt(path, { hold: async () => 'process 7 writes it' });
  await t.throwsAsync(store.load(), { message: 'process 7 writes it' });
  store.save([image('a', 1)], 'now');
  await store[Symbol.asyncDispose]();
  t.false(existsSync(path));
});

test.serial('reading only changes nothing, makes nothing, and sees what the writer has saved', async (t) => {
  const path = join(scratch(t), 'state.db');
  t.deepEqual(found(path), {});
  t.false(existsSync(path));
  await using writer = storeAt(path);
  await writer.load();
  writer.save([image('a', 1)], 'now');
  await until(() => 'a' in found(path));
  {
    await using reader = storeAt(path, { readOnly: true });
    await reader.load();
    reader.save([image('b', 2)], 'now');
  }
  t.deepEqual(found(path), { a: 1 });
});

test.serial('a file that is removed under us is begun anew, and said, so that all is saved again', async (t) => {
  const path = join(scratch(t), 'state.db');
  await using store = storeAt(path);
  const heard = hearing(store);
  await store.load();
  store.save([image('a', 1)], 'now');
  await until(() => 'a' in found(path));
  for (const suffix of ['', '-wal', '-shm']) unlinkSync(`${path}${suffix}`);
  store.save([image('b', 2)], 'now');
  await until(() => 'b' in found(path));
  await until(() => heard().length > 0);
  t.like(heard(), [{ kind: 'begun-anew', renamedTo: null }]);
  t.deepEqual(found(path), { b: 2 });
});

const MKFS: Need = program('mkfs.ext4');

for (const kind of ['tmpfs', 'ext4'] as const) {
  /** A disk of its own with little room. */
  const smallDisk = (t: ExecutionContext): string => {
    const directory = scratch(t);
    const point = join(directory, 'disk');
    mkdirSync(point);
    if (kind === 'tmpfs') {
      run('mount', '-t', 'tmpfs', '-o', 'size=2m', 'reclaimd-test', point);
    } else {
      const backing = join(directory, 'backing');
      run('truncate', '-s', `${8 * MIB}`, backing);
      run('mkfs.ext4', '-q', '-F', '-m', '0', backing);
      run('mount', '-o', 'loop', backing, point);
    }
    t.teardown(() => run('umount', '-l', point));
    return point;
  };
  const fill = (point: string) => {
    const ballast = `${point}/ballast`;
    const size = () => statSync(ballast, { throwIfNoEntry: false })?.size ?? -1;
    // Until not one byte more goes in: what a filesystem holds back for itself it may give up a little later.
    for (let before = -2; size() > before; ) {
      before = size();
      spawnSync('sh', ['-c', `cat /dev/zero >> ${ballast}`], { stdio: 'ignore' });
    }
  };
  const needs = kind === 'tmpfs' ? [ROOT, MOUNTING] : [ROOT, MOUNTING, MKFS];
  const changes = (round: number) =>
    Array.from({ length: 40 }, (_, n) => image(`sha256:${n}`, `${round} ${'x'.repeat(2_000)}`));

  test.serial(`on a full ${kind} the newest is kept and said once, and written when there is room`, async (t) => {
    if (!canRun(t, ...needs)) return;
    const point = smallDisk(t);
    const path = join(point, 'state.db');
    await using store = storeAt(path);
    const heard = hearing(store);
    await store.load();
    store.save([image('before', 0)], 'now');
    await until(() => 'before' in found(path));
    fill(point);
    let round = 0;
    await until(() => {
      store.save(changes(++round), 'now');
      return heard().length > 0;
    });
    for (let more = 0; more < 20; more += 1) {
      store.save(changes(++round), 'now');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    t.like(heard(), [{ kind: 'not-writing', isFull: true }], 'once');
    unlinkSync(`${point}/ballast`);
    await until(() => heard().length > 1);
    t.like(heard()[1], { kind: 'writing-again' });
    await until(() => String(found(path)['sha256:39']).split(' ')[0] === String(round));
    t.is(found(path)['before'], 0);
  });

  for (const index of ['with', 'without'] as const) {
    test.serial(`on a full ${kind} what was saved is read, ${index} the index file that readers share`, async (t) => {
      if (!canRun(t, ...needs)) return;
      const point = smallDisk(t);
      const path = join(point, 'state.db');
      const child = spawn(process.execPath, [CHILD, path, '40'], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      if (index === 'without') unlinkSync(`${path}-shm`);
      fill(point);
      await using store = storeAt(path);
      const heard = hearing(store);
      const { images } = await store.load();
      t.is(images.size, 40);
      let round = 0;
      await until(() => {
        store.save([...changes(++round), image(`new-${round}`, 'x'.repeat(4_000))], 'now');
        return heard().length > 0;
      });
      unlinkSync(`${point}/ballast`);
      await until(() => heard().some((each) => each.kind === 'writing-again'));
    });
  }

  test.serial(`begun on a full ${kind}, the store is empty and writes when there is room`, async (t) => {
    if (!canRun(t, ...needs)) return;
    const point = smallDisk(t);
    const path = join(point, 'state', 'state.db');
    fill(point);
    await using store = storeAt(path);
    const heard = hearing(store);
    t.is((await store.load()).images.size, 0);
    store.save(changes(1), 'now');
    await until(() => heard().length > 0);
    t.like(heard(), [{ kind: 'not-writing', isFull: true }]);
    unlinkSync(`${point}/ballast`);
    await until(() => heard().length > 1);
    t.is(Object.keys(found(path)).length, 40);
  });
}

test.serial('more entries than may wait are dropped and asked for anew, with a clean start', async (t) => {
  if (!canRun(t, ROOT, MOUNTING)) return;
  const directory = scratch(t);
  run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'reclaimd-test', directory);
  t.teardown(() => run('umount', '-l', directory));
  const path = join(directory, 'state.db');
  await using store = storeAt(path);
  const heard = hearing(store);
  await store.load();
  store.save([image('old', 1)], 'now');
  await until(() => 'old' in found(path));
  spawnSync('sh', ['-c', `cat /dev/zero >> ${directory}/ballast`], { stdio: 'ignore' });
  store.save(
    Array.from({ length: 50_001 }, (_, n) => image(`sha256:${n}`, undefined)),
    'soon',
  );
  t.deepEqual(
    heard().map(({ kind }) => kind),
    ['begun-anew'],
  );
  unlinkSync(`${directory}/ballast`);
  store.save([image('new', 2)], 'now');
  await until(() => 'new' in found(path));
  t.deepEqual(found(path), { new: 2 });
});
