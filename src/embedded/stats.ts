import { join } from 'node:path';
import type { FilesystemUsage } from '../proto/generated/cri.js';
import { SNAPSHOTS } from './content-store.js';
import { usageMessage } from './messages.js';
import { type LayerSample, layerOf, nanoseconds } from './records.js';
import type { RuntimeState } from './state.js';
import { treeSize } from './tree.js';
import { pause } from './waiting.js';

/** Name of the directory of containers on their disk. */
export const CONTAINERS = 'containers';

/** The cached statistics: sampled once each period, and stale in between, as runtimes have them. */
export class Stats {
  readonly #state: RuntimeState;
  readonly #periodMs: number;
  readonly #closing = new AbortController();
  #looping: Promise<void> = Promise.resolve();
  #images: LayerSample | null = null;
  #containers: LayerSample | null = null;

  constructor(state: RuntimeState, periodMs: number) {
    this.#state = state;
    this.#periodMs = periodMs;
  }

  /** Samples each period until closed. */
  start(): void {
    this.#looping = this.#loop();
  }

  /** Resolves when the sample under way is taken. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looping;
  }

  /** The directory that stands for the filesystem of writable layers. */
  get layersPath(): string {
    return this.#state.traits.splitDisks ? join(this.#state.disks.container.path, CONTAINERS) : this.imagesPath;
  }

  /** The directory that stands for the filesystem of images. */
  get imagesPath(): string {
    return join(this.#state.disks.image.path, SNAPSHOTS);
  }

  /** What ImageFsInfo says of images. Before the first sample it is a fresh-looking zero, as in containerd. */
  imageFilesystem(): FilesystemUsage {
    return usageMessage(this.#images ?? this.#nothing(), this.imagesPath);
  }

  /** What ImageFsInfo says of writable layers; only split disks have an answer. */
  containerFilesystem(): FilesystemUsage | null {
    return this.#state.traits.splitDisks ? usageMessage(this.#containers ?? this.#nothing(), this.layersPath) : null;
  }

  /** Takes a sample of everything now. */
  async sample(): Promise<void> {
    const layers = join(this.#state.disks.container.path, CONTAINERS);
    let bytes = 0n;
    let inodes = 0n;
    for (const container of this.#state.containers.values()) {
      if (container.directory === null) continue;
      const own = await this.#measure(layerOf(container.directory));
      container.sample = own;
      bytes += own.bytes;
      inodes += own.inodes;
    }
    const images = await this.#measure(this.imagesPath);
    this.#containers = await this.#measure(layers);
    // One snapshotter holds unpacked images and writable layers alike, unless the disks are split.
    this.#images = this.#state.traits.splitDisks
      ? images
      : { ...images, bytes: images.bytes + bytes, inodes: images.inodes + inodes };
  }

  async #loop(): Promise<void> {
    while (await pause(this.#periodMs, this.#closing.signal)) await this.sample();
  }

  async #measure(path: string): Promise<LayerSample> {
    const timestamp = nanoseconds(this.#state.now());
    const { bytes, inodes } = await treeSize(path);
    return { timestamp, bytes: BigInt(bytes), inodes: BigInt(inodes) };
  }

  #nothing(): LayerSample {
    return { timestamp: nanoseconds(this.#state.now()), bytes: 0n, inodes: 0n };
  }
}
