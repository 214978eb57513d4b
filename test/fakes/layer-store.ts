import type { Extent, FakeDisk } from './fake-disk.js';
import type { Layer } from './fake-world.js';

/** What the manifest and the configuration of an image take. */
const IMAGE_RECORD: Extent = { bytes: 4_096, inodes: 1 };

/**
 * Layers on the images' disk, as containerd keeps them: each twice, as blob and as unpacked snapshot, and shared. The blob
 * stays as long as an image has the layer; the snapshot as long as an image or a container has it.
 */
export class LayerStore {
  readonly #blobs = new Map<string, number>();
  readonly #snapshots = new Map<string, number>();

  constructor(readonly disk: FakeDisk) {}

  addImage(layers: readonly Layer[]): void {
    this.disk.take(IMAGE_RECORD);
    for (const layer of layers) {
      if (refer(this.#blobs, layer.id, 1) === 1) this.disk.take(blobOf(layer));
    }
    this.mount(layers);
  }

  removeImage(layers: readonly Layer[]): void {
    this.disk.give(IMAGE_RECORD);
    for (const layer of layers) {
      if (refer(this.#blobs, layer.id, -1) === 0) this.disk.give(blobOf(layer));
    }
    this.unmount(layers, 0);
  }

  mount(layers: readonly Layer[]): void {
    for (const layer of layers) {
      if (refer(this.#snapshots, layer.id, 1) === 1) this.disk.take(layer);
    }
  }

  unmount(layers: readonly Layer[], lateBy: number): void {
    for (const layer of layers) {
      if (refer(this.#snapshots, layer.id, -1) === 0) this.disk.give(layer, lateBy);
    }
  }
}

function blobOf(layer: Layer): Extent {
  return { bytes: layer.bytes, inodes: 1 };
}

function refer(counts: Map<string, number>, id: string, by: 1 | -1): number {
  const left = (counts.get(id) ?? 0) + by;
  counts.set(id, left);
  return left;
}
