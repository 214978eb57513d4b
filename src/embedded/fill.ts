import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isNoSpace } from './cri-error.js';
import type { SmallDisk } from './small-disk.js';

const CHUNK = Buffer.alloc(1024 * 1024, 'filler ');
/** The last bytes of a disk are taken in pieces of one block. */
const BLOCK = 1024;

/** A file that fills a disk, for as long as it is there. */
export interface Filler {
  readonly path: string;
  readonly bytes: number;
  remove(): Promise<void>;
}

/** Fills a disk with one file until that many bytes are left, 0 for none at all. */
export async function fillDisk(disk: SmallDisk, leaveBytes: number): Promise<Filler> {
  const path = join(disk.path, `filler-${process.hrtime.bigint()}`);
  const file = await open(path, 'w', 0o600);
  let written = 0;
  try {
    const wanted =
      leaveBytes === 0 ? Number.POSITIVE_INFINITY : Math.max(0, (await disk.read()).available - leaveBytes);
    let piece = CHUNK.length;
    while (written < wanted) {
      const size = Math.min(piece, wanted - written);
      try {
        disk.spend(size);
        written += (await file.write(CHUNK, 0, size, written)).bytesWritten;
      } catch (error) {
        if (!isNoSpace(error)) throw error;
        if (piece === BLOCK) break;
        piece = BLOCK;
      }
    }
    // Filesystems that allocate late would else find at write-back that there is no room for what was taken.
    await file.datasync();
  } finally {
    await file.close();
  }
  return { path, bytes: written, remove: () => rm(path, { force: true }) };
}
