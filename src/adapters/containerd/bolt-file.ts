import { type FileHandle, open } from 'node:fs/promises';
import { PortError } from '../../ports/port-error.js';
import { type BoltBucket, BoltError, META_BYTES, readMeta, readRoot } from './bolt.js';

/** containerd writes some times a second at most while it is busy; a read of its file takes milliseconds. */
const ATTEMPTS = 10;
/** A node with 10,000 images has some 100 MiB. */
const LARGEST = 1024 * 1024 * 1024;

/**
 * Reads a bolt file that another process may be writing. A change never writes over pages that the state before it needs, so what
 * was read is whole if no change was finished meanwhile. Rejects with a `PortError`.
 */
export async function readBoltFile(path: string): Promise<BoltBucket> {
  const cannot = (rule: string, cause?: unknown) =>
    new PortError(`Cannot read what containerd keeps as the file must ${rule}: ${path}`, { cause });
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > LARGEST) throw cannot('have at most 1 GiB');
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = readMeta(await head(file));
      const content = await whole(file);
      const after = readMeta(await head(file));
      if (after.transaction === before.transaction) return readRoot(content, before);
    }
    throw cannot('rest for a moment');
  } catch (error) {
    if (error instanceof PortError) throw error;
    if (error instanceof BoltError) throw cannot('be a whole bolt file', error);
    throw cannot('be there and readable', error);
  }
}

async function head(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(META_BYTES), 0, META_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

async function whole(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  const content = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(content, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return content.subarray(0, length);
}
