import { randomFill } from 'node:crypto';
import type { Stats } from 'node:fs';
import { constants, type FileHandle, open, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { BallastPort } from '../../ports/ballast.js';
import { PortError } from '../../ports/port-error.js';
import { type Bytes, bytes } from '../../units/units.js';
import { acquireInstanceLock, type InstanceHolder, type InstanceLock } from './instance-lock.js';

/** Ballast files on this machine. Disposing leaves the files and lets another process look after them. */
export interface HostBallast extends BallastPort, AsyncDisposable {}

/** Its name in the directory that it lies in. */
export const BALLAST_NAME = '.reclaimd-ballast';

/** It begins with this, so that no file of anybody else is ever taken for it. */
const HEADER = Buffer.from('reclaimd ballast: free space in reserve, safe to delete while reclaimd is stopped\n');
const MODE = 0o600;
/** What is written at a time. */
const CHUNK = 1024 * 1024;
/** A file counts for what it is long if so much of that is allocated: a filesystem may round, but not by that much. */
const ALLOCATED_SHARE = 0.95;

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
const fillWithNoise = promisify(randomFill);

/**
 * Keeps ballast in plain files of noise, which no filesystem can compress or share, written through to the disk so that the
 * blocks are really set aside. A hole would be none: it gives nothing back. Releasing truncates first, which returns the space
 * even while somebody holds the file open, and needs no room itself.
 */
export function hostBallast(self: InstanceHolder): HostBallast {
  const locks = new Map<string, Promise<InstanceLock>>();

  /** Two processes that lay and release one file would each count on all of it. */
  async function owned(directory: string): Promise<string> {
    if (!directory.startsWith('/') || directory.includes('\0')) {
      throw new PortError(
        `Cannot keep ballast as its directory must be an absolute path: ${JSON.stringify(directory)}`,
      );
    }
    const path = `${directory === '/' ? '' : directory}/${BALLAST_NAME}`;
    const asked = locks.get(path) ?? acquireInstanceLock(path, self);
    locks.set(path, asked);
    const lock = await asked.catch((error: unknown) => {
      locks.delete(path);
      throw error;
    });
    if (lock.kind === 'acquired') return path;
    locks.delete(path);
    throw new PortError(`Cannot keep ballast as one process looks after it: ${path}, held by ${lock.by?.pid ?? '?'}`);
  }

  return {
    async held(directory) {
      const path = await owned(directory);
      await using file = await openOwn(path);
      return file === null ? bytes(0) : allocated(await file.stat());
    },

    async resize(directory, size) {
      const path = await owned(directory);
      await using file = (await openOwn(path)) ?? (await create(path));
      return await telling('lay', path, () => fit(file, path, size));
    },

    async release(directory) {
      const path = await owned(directory);
      await using file = await openOwn(path);
      if (file === null) return bytes(0);
      const held = allocated(await file.stat());
      // Either gives the space back. A filesystem that copies on write may have no room for one of them.
      const cut = await file.truncate(0).then(
        () => null,
        (error: unknown) => error,
      );
      await telling('release', path, () => unlink(path)).catch((error: unknown) => {
        if (cut !== null) throw error;
      });
      return held;
    },

    async [Symbol.asyncDispose]() {
      const held = await Promise.all([...locks.values()].map((each) => each.catch(() => null)));
      locks.clear();
      for (const lock of held) if (lock?.kind === 'acquired') await lock.release();
    },
  };
}

/** The file as far as it is ours; null = there is none. Rejects when something else stands there. */
async function openOwn(path: string): Promise<FileHandle | null> {
  const file = await open(path, O_RDWR | O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    const rule = error.code === 'ELOOP' ? 'it must not be a symbolic link' : 'it must be a file that can be opened';
    throw new PortError(`Cannot keep ballast as ${rule}: ${path}`, { cause: error });
  });
  if (file === null) return null;
  try {
    const stat = await file.stat();
    const rule = await whyNotOurs(file, stat);
    if (rule !== null) throw new PortError(`Cannot keep ballast as ${rule}: ${path}`);
    if ((stat.mode & 0o777) !== MODE) await file.chmod(MODE);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function whyNotOurs(file: FileHandle, stat: Stats): Promise<string | null> {
  if (!stat.isFile()) return 'it must be a plain file';
  if (stat.nlink > 1) return 'it must have no other name, under which its space would stay taken';
  if (stat.uid !== process.geteuid?.()) return 'it must belong to the user that we run as';
  // What a crash left between making it and writing to it.
  if (stat.size === 0) return null;
  const start = Buffer.alloc(HEADER.length);
  await file.read(start, 0, start.length, 0);
  const isOurs = start.subarray(0, stat.size).equals(HEADER.subarray(0, stat.size));
  return isOurs ? null : 'only a file that we have made is ever taken for it';
}

async function create(path: string): Promise<FileHandle> {
  return telling('lay', path, () => open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, MODE));
}

async function fit(file: FileHandle, path: string, size: Bytes): Promise<Bytes> {
  const before = await file.stat();
  // Where blocks are missing in the middle there is no telling what it would give back: it is made anew.
  const length = isWhole(before) ? before.size : 0;
  if (length !== before.size || length > size) await file.truncate(Math.min(length, size));
  const chunk = Buffer.alloc(CHUNK);
  for (let at = Math.min(length, size); at < size; ) {
    const many = Math.min(CHUNK, size - at);
    await fillWithNoise(chunk);
    if (at < HEADER.length) HEADER.copy(chunk, 0, at);
    await writeWhole(file, chunk.subarray(0, many), at);
    at += many;
  }
  // Blocks that are only promised so far are got here, or not.
  await file.datasync();
  const after = await file.stat();
  if (isWhole(after)) return allocated(after);
  throw new PortError(
    `Cannot keep ballast as its filesystem must set aside what is written: ${path} holds ${allocated(after)} of ${after.size} bytes`,
  );
}

/** A write may take less than it was given: next to the end of a disk it does. */
async function writeWhole(file: FileHandle, data: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    done += (await file.write(data, done, data.length - done, at + done)).bytesWritten;
  }
}

function allocated(stat: Stats): Bytes {
  // `st_blocks` counts 512 bytes each, whatever the filesystem's own blocks are.
  return bytes(stat.blocks * 512);
}

function isWhole(stat: Stats): boolean {
  return allocated(stat) >= stat.size * ALLOCATED_SHARE;
}

async function telling<T>(what: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof PortError) throw error;
    throw new PortError(`Cannot ${what} ballast at ${path}`, { cause: error });
  }
}
