import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** What a tree allocates, as `du` counts: blocks of files and directories, hard links counted each time. */
export interface TreeSize {
  readonly bytes: number;
  readonly inodes: number;
}

/** Walks a tree; what vanishes meanwhile counts nothing, and so does a tree that does not exist. */
export async function treeSize(path: string): Promise<TreeSize> {
  const own = await lstat(path).catch(() => null);
  if (own === null) return { bytes: 0, inodes: 0 };
  let bytes = own.blocks * 512;
  let inodes = 1;
  if (!own.isDirectory()) return { bytes, inodes };
  const directory = await opendir(path).catch(() => null);
  if (directory === null) return { bytes, inodes };
  for await (const entry of directory) {
    const below = await treeSize(join(path, entry.name));
    bytes += below.bytes;
    inodes += below.inodes;
  }
  return { bytes, inodes };
}
