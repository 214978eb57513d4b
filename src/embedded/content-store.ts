import { createCipheriv, createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LayerContent } from './options.js';
import type { SmallDisk } from './small-disk.js';

/** A layer in the store: a blob as it was pulled, and a snapshot as it was unpacked. Both stay, as in containerd. */
export interface StoredLayer {
  /** `sha256:…` of the blob. */
  readonly digest: string;
  /** Bytes of the blob. */
  readonly size: number;
}

/** Name of the directory of unpacked layers; ImageFsInfo names it, a directory inside the mount and not the mount. */
export const SNAPSHOTS = 'io.containerd.snapshotter.v1.overlayfs';
const BLOBS = 'io.containerd.content.v1.content';

const CHUNK = 1024 * 1024;
/** What a small file adds to a blob: a header and a block of a tar archive. */
const TAR_BYTES_PER_FILE = 1024;

/** Blobs and snapshots on the image disk, by digest: layers of equal content are there once. */
export class ContentStore {
  readonly #disk: SmallDisk;
  /** Digests by what was asked for, so that a layer that is there need not be made to be recognised. */
  readonly #digests = new Map<string, StoredLayer>();

  constructor(disk: SmallDisk) {
    this.#disk = disk;
  }

  /** The directory of the unpacked layers. */
  get snapshotsPath(): string {
    return join(this.#disk.path, SNAPSHOTS);
  }

  async prepare(): Promise<void> {
    await mkdir(join(this.#disk.path, BLOBS), { recursive: true });
    await mkdir(this.snapshotsPath, { recursive: true });
  }

  /** Makes a layer be there, blob and snapshot. @throws ENOSPC, leaving nothing of an unfinished layer. */
  async add(content: LayerContent): Promise<StoredLayer> {
    const key = JSON.stringify([content.seed, content.bytes, content.files ?? 0]);
    const known = this.#digests.get(key);
    const layer = known ?? (await this.#addBlob(content));
    this.#digests.set(key, layer);
    if (known !== undefined && !(await this.#list(BLOBS)).has(nameOf(known))) await this.#addBlob(content);
    if (!(await this.#list(SNAPSHOTS)).has(nameOf(layer))) await this.#addSnapshot(content, layer);
    return layer;
  }

  /** Removes what is not wanted. Both sets hold digests. */
  async retain(blobs: ReadonlySet<string>, snapshots: ReadonlySet<string>): Promise<void> {
    await this.#retain(BLOBS, blobs);
    await this.#retain(SNAPSHOTS, snapshots);
  }

  async #addBlob({ seed, bytes, files = 0 }: LayerContent): Promise<StoredLayer> {
    const partial = join(this.#disk.path, BLOBS, `partial-${createHash('sha256').update(seed).digest('hex')}`);
    const size = bytes + files * TAR_BYTES_PER_FILE;
    try {
      // The structure belongs to the content: one large file is not many small ones of the same bytes.
      const hash = createHash('sha256').update(`${bytes}+${files}`);
      await this.#write(partial, seed, size, (chunk) => hash.update(chunk));
      const digest = `sha256:${hash.digest('hex')}`;
      await rename(partial, join(this.#disk.path, BLOBS, nameOf({ digest })));
      return { digest, size };
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  async #addSnapshot({ seed, bytes, files = 0 }: LayerContent, layer: StoredLayer): Promise<void> {
    const partial = join(this.snapshotsPath, `partial-${nameOf(layer)}`);
    try {
      await mkdir(partial, { recursive: true });
      if (bytes > 0) await this.#write(join(partial, 'content'), seed, bytes, () => undefined);
      for (let number = 0; number < files; number += 1)
        await this.#write(join(partial, `file-${number}`), seed, 1, () => undefined);
      await rename(partial, join(this.snapshotsPath, nameOf(layer)));
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  }

  async #write(path: string, seed: string, size: number, seen: (chunk: Buffer) => void): Promise<void> {
    const file = await open(path, 'w', 0o600);
    try {
      const stream = createCipheriv('aes-128-ctr', createHash('md5').update(seed).digest(), Buffer.alloc(16));
      for (let written = 0; written < size; ) {
        const chunk = stream.update(Buffer.alloc(Math.min(CHUNK, size - written)));
        this.#disk.spend(chunk.length);
        seen(chunk);
        for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten;
        written += chunk.length;
      }
    } finally {
      await file.close();
    }
  }

  async #list(kind: string): Promise<ReadonlySet<string>> {
    return new Set(await readdir(join(this.#disk.path, kind)));
  }

  async #retain(kind: string, wanted: ReadonlySet<string>): Promise<void> {
    const names = new Set([...wanted].map((digest) => nameOf({ digest })));
    for (const name of await this.#list(kind)) {
      if (names.has(name) || name.startsWith('partial-')) continue;
      await rm(join(this.#disk.path, kind, name), { recursive: true, force: true });
    }
  }
}

function nameOf(layer: { readonly digest: string }): string {
  return layer.digest.slice('sha256:'.length);
}
