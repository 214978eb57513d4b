import { spawnSync } from 'node:child_process';
import { closeSync, openSync, statfsSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import type { Namespace } from './namespace.js';

/** A small disk of its own. */
export interface DiskSpec {
  readonly filesystem: 'ext4' | 'xfs' | 'tmpfs';
  /** XFS wants 300 at least. */
  readonly sizeMiB: number;
  /** Limit of inodes; ext4 and tmpfs only (XFS makes them as it needs them). */
  readonly inodes?: number;
  /** XFS only: share of the disk that inodes may take. */
  readonly inodePercent?: number;
  /** A disk that was made and filled before, such as one that a lab kept: it is copied, and not touched. */
  readonly copyOf?: string;
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
  if (spec.copyOf === undefined) {
    writeFileSync(backingFile, '');
    truncateSync(backingFile, sizeMiB * 1024 * 1024);
    await namespace.run(`mkfs.${filesystem}`, [...makeOptions(spec), backingFile]);
  } else {
    await namespace.run('cp', ['--sparse=always', '--reflink=auto', spec.copyOf, backingFile]);
  }
  // XFS mounts no second disk of the same id, and copies have it from their original.
  const options = filesystem === 'xfs' ? 'loop,nouuid' : 'loop';
  await namespace.run('mount', ['-o', options, backingFile, mountPoint]);
}

function makeOptions({ filesystem, inodes, inodePercent }: DiskSpec): readonly string[] {
  return filesystem === 'ext4'
    ? ['-q', '-F', '-m', '0', ...(inodes === undefined ? [] : ['-N', String(inodes)])]
    : ['-q', '-f', ...(inodePercent === undefined ? [] : ['-i', `maxpct=${inodePercent}`])];
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

/**
 * Gives the file blocks until `leaveBytes` are available, or with 0 until the disk refuses one byte more. Allocates instead
 * of writing: it is quicker, and XFS sets space aside beyond the end of files that grow, which would overshoot.
 */
export function fillDisk(file: string, leaveBytes = 0): void {
  writeFileSync(file, '', { flag: 'a' });
  // XFS refuses what would leave it no room for its own records: then less, down to a block.
  for (let step = availableBytes(file) - leaveBytes; step >= BLOCK; ) {
    const isDone = allocate(file, step);
    step = isDone ? availableBytes(file) - leaveBytes : Math.floor(step / 2);
  }
  if (leaveBytes === 0) appendToTheLastByte(file);
}

const BLOCK = 4096;

function allocate(file: string, bytes: number): boolean {
  const offset = String(statSync(file).size);
  const { status, error } = spawnSync('fallocate', ['--offset', offset, '--length', String(bytes), file]);
  if (error !== undefined) throw error;
  return status === 0;
}

function appendToTheLastByte(file: string): void {
  const handle = openSync(file, 'a');
  const byte = Buffer.alloc(1);
  try {
    for (;;) writeSync(handle, byte);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    closeSync(handle);
  }
}
