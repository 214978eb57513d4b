import test from 'ava';
import type { Mount } from '../../../src/adapters/host/mount-table.js';
import { type RawLook, rawLook, readingOf } from '../../../src/adapters/host/raw-look.js';
import { instant } from '../../../src/units/units.js';
import { canRun, program, run } from './real.js';

const AT = instant(1);
const NUMBERS: RawLook = {
  kind: 'numbers',
  device: 65024n,
  unit: 4096n,
  blocks: 100n,
  available: 40n,
  files: 50n,
  filesFree: 10n,
};
const mount = (given: Partial<Mount>): Mount => ({
  id: 1,
  parent: 0,
  device: '254:0',
  mountPoint: '/',
  type: 'ext4',
  source: '/dev/vda',
  readOnly: false,
  superOptions: 'rw',
  ...given,
});

test('blocks become bytes, and the device gets the name that the kernel gives it', (t) => {
  t.deepEqual(readingOf(NUMBERS, '/x', mount({}), AT) as unknown, {
    kind: 'reading',
    device: '254:0',
    available: 163_840,
    capacity: 409_600,
    inodes: { free: 10, total: 50 },
    readOnly: false,
    at: 1,
  });
});

test('inodes that are not counted are null and never zero', (t) => {
  const inodes = (files: bigint, filesFree: bigint) => {
    const look = readingOf({ ...NUMBERS, files, filesFree }, '/x', mount({}), AT);
    return look.kind === 'reading' ? look.inodes : look;
  };
  t.is(inodes(0n, 0n), null, 'btrfs');
  t.is(inodes(1_000n, 2n ** 64n - 1n), null, 'CephFS says -1 free');
  t.deepEqual(inodes(5n, 0n) as unknown, { free: 0, total: 5 }, 'all used');
});

test('subvolumes of one btrfs are one device', (t) => {
  const device = (raw: bigint) => {
    const look = readingOf({ ...NUMBERS, device: raw }, '/x', mount({ type: 'btrfs', source: '/dev/sdb' }), AT);
    return look.kind === 'reading' ? look.device : look.kind;
  };
  t.is(device(45n), device(46n));
});

test('large device numbers keep all their bits', (t) => {
  // makedev(0x12345, 0x54321) as glibc computes it
  const look = readingOf({ ...NUMBERS, device: 0x1200054334521n }, '/x', mount({}), AT);
  t.is(look.kind === 'reading' ? look.device : '', `${0x12345}:${0x54321}`);
});

test('only a path that is not there is missing; every other failure is an error', (t) => {
  const kind = (code: string) => readingOf({ kind: 'failure', code, message: code }, '/x', null, AT).kind;
  t.deepEqual(['ENOENT', 'ENOTDIR', 'EACCES', 'EIO', 'ESTALE', 'ELOOP', 'HELPER'].map(kind), [
    'missing',
    'missing',
    'error',
    'error',
    'error',
    'error',
    'error',
  ]);
});

test('a filesystem too large to count exactly is an error', (t) => {
  const look = readingOf({ ...NUMBERS, blocks: 2n ** 41n }, '/x', mount({}), AT);
  t.like(look, { kind: 'error' });
});

test('the unit of the counts is what stat(1) calls the fundamental block size', async (t) => {
  if (!canRun(t, program('stat'))) return;
  for (const path of ['/', '/proc', '/dev/shm', '/sys']) {
    const raw = await rawLook(path);
    t.is(raw.kind === 'numbers' ? String(raw.unit) : raw.message, run('stat', '-f', '-c', '%S', path).trim(), path);
  }
});
