import { closeSync, fsyncSync, openSync, statfsSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import type { Namespace } from './namespace.js';

/** A small disk of its own. */
export interface DiskSpec {
  readonly filesystem: 'ext4' | 'xfs' | 'tmpfs';
  /** XFS wants 300 at least. */
  readonly sizeMiB: number;
  /** Limit of inodes; ext4 and tmpfs only (XFS makes them as it needs them). */
  readonly inodes?: number;
}

/** Makes the filesystem and mounts it at `mountPoint`, an existing directory, in the namespace only. */
export async function mountDisk(
  namespace: Namespace,
  spec: DiskSpec,
  backingFile: string,
  mountPoint: string,
): Promise<void> {
  const { filesystem, sizeMiB, inodes } = spec;
  if (filesystem === 'tmpfs') {
    const options = [`size=${sizeMiB}m`, ...(inodes === undefined ? [] : [`nr_inodes=${inodes}`])];
    await namespace.run('mount', ['-t', 'tmpfs', '-o', options.join(','), 'reclaimd-test', mountPoint]);
    return;
  }
  if (filesystem === 'xfs' && inodes !== undefined) {
    throw new Error(`Cannot make an XFS disk as its inodes cannot be counted out beforehand: ${inodes}`);
  }
  writeFileSync(backingFile, '');
  truncateSync(backingFile, sizeMiB * 1024 * 1024);
  await (filesystem === 'ext4'
    ? namespace.run('mkfs.ext4', [
        '-q',
        '-F',
        '-m',
        '0',
        ...(inodes === undefined ? [] : ['-N', String(inodes)]),
        backingFile,
      ])
    : namespace.run('mkfs.xfs', ['-q', '-f', backingFile]));
  await namespace.run('mount', ['-o', 'loop', backingFile, mountPoint]);
}

/** Bytes that an ordinary user could still write. */
export function availableBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Inodes that are left. */
export function availableInodes(path: string): number {
  return statfsSync(path).ffree;
}

/** Writes real bytes to the file until `leaveBytes` are available, or with 0 until the disk refuses one byte more. */
export function fillDisk(file: string, leaveBytes = 0): void {
  // XFS sets space aside beyond the end of a file that grows, and gives it back when the file is closed: look again then.
  while (append(file, leaveBytes) > 0);
}

/** Bytes written. */
function append(file: string, leaveBytes: number): number {
  const handle = openSync(file, 'a');
  try {
    const sizes = leaveBytes === 0 ? [1 << 20, 1 << 12, 1] : [1 << 20, 1 << 16];
    const written = sizes.map((size) => appendChunks(handle, file, Buffer.alloc(size, 0x5a), leaveBytes));
    return written.reduce((total, bytes) => total + bytes, 0);
  } finally {
    fsyncSync(handle);
    closeSync(handle);
  }
}

function appendChunks(handle: number, file: string, chunk: Buffer, leaveBytes: number): number {
  for (let total = 0; ; ) {
    if (leaveBytes > 0 && availableBytes(file) - chunk.length < leaveBytes) return total;
    const bytes = write(handle, chunk);
    if (bytes === 0) return total;
    total += bytes;
  }
}

/** Bytes that found room. */
function write(handle: number, chunk: Buffer): number {
  try {
    return writeSync(handle, chunk);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return 0;
    throw error;
  }
}
