import type { FsLayout } from '../../src/eviction/layout.js';
import type { FilesystemName } from '../../src/eviction/signal.js';
import type { PodSource } from '../../src/ports/pods.js';
import type { ContainerRecord, ImageRecord, SandboxRecord } from '../../src/ports/runtime.js';
import { type DiskSize, type Extent, FakeDisk } from './fake-disk.js';
import { LayerStore } from './layer-store.js';
import { VirtualClock } from './virtual-clock.js';

/** Where things lie on the node. */
export const PATHS = {
  root: '/var/lib/kubelet',
  volumes: '/var/lib/kubelet/pods',
  logs: '/var/log/pods',
  images: '/var/lib/runtime/images',
  containers: '/var/lib/runtime/containers',
} as const;

export interface Layer extends Extent {
  readonly id: string;
}

export interface FakeImage extends ImageRecord {
  readonly layers: readonly Layer[];
}

export interface FakeContainer extends ContainerRecord {
  /** Id of the image that its layers come from; null = none that this node has. */
  readonly base: string | null;
  readonly writable: Extent;
  /** What the runtime tells of the writable layer: the truth, nothing yet, or not even the container. */
  readonly told: 'usage' | 'no-numbers' | 'nothing';
  readonly imageVolumes: readonly string[];
  readonly logPath: string;
}

/** What the API server knows of a pod, and its emptyDirs. */
export interface FakePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly priority: number | null;
  readonly source: PodSource | null;
  readonly isMirror: boolean;
  readonly terminationGrace: number | null;
  readonly storageRequest: number | null;
}

const FILESYSTEM_DISKS = {
  'one-disk': { nodefs: 'a', imagefs: 'a', containerfs: 'a' },
  'image-disk': { nodefs: 'a', imagefs: 'b', containerfs: 'b' },
  'split-disks': { nodefs: 'a', imagefs: 'b', containerfs: 'a' },
} as const satisfies Record<FsLayout, Record<FilesystemName, 'a' | 'b'>>;

/** A node in memory: what exists, and what it takes on which disk. Nothing here decides anything. */
export class FakeWorld {
  readonly clock = new VirtualClock();
  readonly disks: Readonly<Record<FilesystemName, FakeDisk>>;
  readonly images = new Map<string, FakeImage>();
  readonly containers = new Map<string, FakeContainer>();
  readonly sandboxes = new Map<string, SandboxRecord>();
  readonly pods = new Map<string, FakePod>();
  readonly logs = new Map<string, Extent>();
  readonly volumes = new Map<string, Extent>();
  /** How long after the removal of a container has been answered its space comes back. */
  lateBy = 0;
  readonly #layers: LayerStore;

  constructor(layout: FsLayout, size: DiskSize) {
    const a = new FakeDisk('8:1', size, this.clock);
    const b = new FakeDisk('8:2', size, this.clock);
    const { nodefs, imagefs, containerfs } = FILESYSTEM_DISKS[layout];
    const disks = { a, b };
    this.disks = { nodefs: disks[nodefs], imagefs: disks[imagefs], containerfs: disks[containerfs] };
    this.#layers = new LayerStore(this.disks.imagefs);
  }

  addImage(image: FakeImage): void {
    this.images.set(image.id, image);
    this.#layers.addImage(image.layers);
  }

  removeImage(id: string): void {
    const image = this.images.get(id);
    if (image === undefined) return;
    this.images.delete(id);
    this.#layers.removeImage(image.layers);
  }

  addContainer(container: FakeContainer, log: Extent): void {
    this.containers.set(container.id, container);
    this.disks.containerfs.take(container.writable);
    this.#layers.mount(this.#layersOf(container));
    if (container.logPath === '') return;
    this.logs.set(container.logPath, log);
    this.disks.nodefs.take(log);
  }

  /** The log stays: it is the node's, not the runtime's. */
  removeContainer(id: string): void {
    const container = this.containers.get(id);
    if (container === undefined) return;
    this.containers.delete(id);
    this.disks.containerfs.give(container.writable, this.lateBy);
    this.#layers.unmount(this.#layersOf(container), this.lateBy);
  }

  /** As a runtime does that is made to free what it removed. */
  freeWhatIsLate(): void {
    for (const disk of new Set(Object.values(this.disks))) disk.freeWhatIsLate();
  }

  setState(id: string, state: ContainerRecord['state']): void {
    const container = this.containers.get(id);
    if (container !== undefined) this.containers.set(id, { ...container, state });
  }

  setVolume(uid: string, extent: Extent): void {
    this.volumes.set(uid, extent);
    this.disks.nodefs.take(extent);
  }

  removeVolume(uid: string): void {
    const extent = this.volumes.get(uid);
    if (extent !== undefined) this.disks.nodefs.give(extent);
    this.volumes.delete(uid);
  }

  removeLogs(isMeant: (path: string) => boolean): void {
    for (const [path, extent] of this.logs) {
      if (!isMeant(path)) continue;
      this.logs.delete(path);
      this.disks.nodefs.give(extent);
    }
  }

  /** The layers keep the image's content alive even when the image itself is gone; the store remembers them by content. */
  #layersOf(container: FakeContainer): readonly Layer[] {
    if (container.base === null) return [];
    const known = this.#bases.get(container.base) ?? this.images.get(container.base)?.layers ?? [];
    this.#bases.set(container.base, known);
    return known;
  }

  readonly #bases = new Map<string, readonly Layer[]>();
}
