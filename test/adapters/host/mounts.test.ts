import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { REREAD_AFTER_MS, readOwnMountInfo } from '../../../src/adapters/host/mount-table-reader.js';
import { hostMounts } from '../../../src/adapters/host/mounts.js';
import { rawLook } from '../../../src/adapters/host/raw-look.js';
import { later, type Milliseconds, milliseconds } from '../../../src/units/units.js';
import { canRun, MOUNTING, program, ROOT, run, scratch, until } from './real.js';

/** The real clock with a hand on it. */
function movableClock() {
  const clock = systemClock();
  let ahead = milliseconds(0);
  return {
    ...clock,
    now: () => later(clock.now(), ahead),
    skip: (by: Milliseconds) => {
      ahead = milliseconds(ahead + by);
    },
  };
}

test('a local directory is read without a child process', async (t) => {
  using mounts = hostMounts({ clock: systemClock() });
  const look = await mounts.look('/');
  t.like(look, { kind: 'reading' });
  t.true(look.kind === 'reading' && look.capacity > 0 && look.available <= look.capacity);
  t.is(mounts.helperPid(), undefined);
});

test('what is not there is missing, what is not a path is an error', async (t) => {
  using mounts = hostMounts({ clock: systemClock() });
  const directory = scratch(t);
  t.is((await mounts.look(join(directory, 'none/deeper'))).kind, 'missing');
  t.is((await mounts.look('relative')).kind, 'error');
  t.is((await mounts.look(`${directory}\0`)).kind, 'error');
  symlinkSync('self', join(directory, 'self'));
  t.like(await mounts.look(join(directory, 'self')), { kind: 'error', path: join(directory, 'self') });
});

test('a mount table that cannot be read is an error and not a throw', async (t) => {
  const readMountInfo = () => {
    throw new Error('EMFILE');
  };
  using mounts = hostMounts({ clock: systemClock(), readMountInfo });
  t.like(await mounts.look('/'), { kind: 'error', message: 'EMFILE' });
});

test('a local disk that does not answer is hung, is asked once, and is left to the child after the second', async (t) => {
  const asked: string[] = [];
  let revive: () => void = () => undefined;
  const dead = new Promise<void>((resolve) => {
    revive = resolve;
  });
  const readMountInfo = () =>
    '1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 8:2 / /proc rw - xfs /dev/b rw\n3 1 8:3 / /sys rw - xfs /dev/c rw';
  using mounts = hostMounts({
    clock: systemClock(),
    deadline: milliseconds(400),
    readMountInfo,
    lookHere: async (path) => {
      asked.push(path);
      await dead;
      return rawLook(path);
    },
  });
  const [first, second] = await Promise.all([mounts.look('/proc'), mounts.look('/sys')]);
  t.deepEqual([first?.kind, second?.kind], ['hung', 'hung']);
  t.is(mounts.stuckHere(), 2);
  t.like(await mounts.look('/proc'), { kind: 'hung', since: first?.kind === 'hung' ? first.since : null });
  t.deepEqual(asked.sort(), ['/proc', '/sys']);
  // The child has to start first, which can take longer than the deadline of this test.
  await until(async () => (await mounts.look('/')).kind === 'reading');
  t.not(mounts.helperPid(), undefined);
  revive();
  await until(async () => (await mounts.look('/proc')).kind === 'reading');
  t.is(mounts.stuckHere(), 0);
});

test('a remount to read-only is seen when the table is read again', async (t) => {
  const clock = movableClock();
  let text = '1 0 8:1 / / rw - ext4 /dev/a rw\n';
  using mounts = hostMounts({ clock, readMountInfo: () => text });
  t.like(await mounts.look('/'), { kind: 'reading', readOnly: false });
  text = '1 0 8:1 / / rw - ext4 /dev/a ro\n';
  clock.skip(milliseconds(REREAD_AFTER_MS));
  t.like(await mounts.look('/'), { kind: 'reading', readOnly: true });
});

test('another device at a known path is noticed at the next look', async (t) => {
  let device = 1n;
  let reads = 0;
  using mounts = hostMounts({
    clock: systemClock(),
    readMountInfo: () => {
      reads += 1;
      return `1 0 8:${reads} / / ${reads === 1 ? 'rw' : 'ro'} - ext4 /dev/a rw\n`;
    },
    lookHere: async () => ({ kind: 'numbers', device, unit: 1n, blocks: 1n, available: 1n, files: 0n, filesFree: 0n }),
  });
  t.like(await mounts.look('/'), { kind: 'reading', device: '0:1', readOnly: false });
  device = 2n;
  t.like(await mounts.look('/'), { kind: 'reading', device: '0:2', readOnly: true });
  t.is(reads, 2);
});

test('the numbers are those of stat(1) on real filesystems of odd block sizes', async (t) => {
  if (!canRun(t, ROOT, MOUNTING, program('mkfs.ext4'), program('mkfs.xfs'), program('stat'))) return;
  const directory = scratch(t);
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['ext4', ['-q', '-b', '1024']],
    ['ext4', ['-q', '-O', 'bigalloc', '-C', '65536']],
    ['xfs', ['-q', '-f', '-b', 'size=4096']],
  ];
  for (const [index, [type, args]] of rows.entries()) {
    const image = join(directory, `image${index}`);
    const point = join(directory, `mount${index}`);
    mkdirSync(point);
    run('truncate', '-s', '320M', image);
    run(`mkfs.${type}`, ...args, image);
    run('mount', '-o', 'loop', image, point);
    try {
      using mounts = hostMounts({ clock: systemClock(), readMountInfo: readOwnMountInfo });
      const [unit, blocks, available, files, free] = run('stat', '-f', '-c', '%S %b %a %c %d', point)
        .split(' ')
        .map(Number);
      t.like(await mounts.look(point), {
        kind: 'reading',
        capacity: (unit ?? 0) * (blocks ?? 0),
        available: (unit ?? 0) * (available ?? 0),
        inodes: { total: files, free },
      });
      t.is(mounts.helperPid(), undefined);
    } finally {
      run('umount', point);
    }
  }
});
