import type { Extent, FakeDisk } from '../fakes/fake-disk.js';
import type { FakeContainer, FakeImage, FakeWorld, Layer } from '../fakes/fake-world.js';

/** What the removal of these containers, with their logs, and of these images would free on a disk. */
export function spaceFreedBy(
  world: FakeWorld,
  disk: FakeDisk,
  containers: readonly FakeContainer[],
  images: readonly FakeImage[],
): Extent {
  const freed = { bytes: 0, inodes: 0 };
  const add = (extent: Extent, on: FakeDisk) => {
    if (on !== disk) return;
    freed.bytes += extent.bytes;
    freed.inodes += extent.inodes;
  };
  for (const container of containers) {
    add(container.writable, world.disks.containerfs);
    const log = world.logs.get(container.logPath);
    if (log !== undefined) add(log, world.disks.nodefs);
  }
  const stayingImages = [...world.images.values()].filter((each) => !images.includes(each));
  const stayingContainers = [...world.containers.values()].filter((each) => !containers.includes(each));
  const blobs = new Set(stayingImages.flatMap((each) => each.layers.map((layer) => layer.id)));
  const snapshots = new Set([
    ...blobs,
    ...stayingContainers.flatMap((each) => layersOf(world, each).map(({ id }) => id)),
  ]);
  const layers = new Map(images.flatMap((each) => each.layers.map((layer): [string, Layer] => [layer.id, layer])));
  for (const layer of layers.values()) {
    if (!blobs.has(layer.id)) add({ bytes: layer.bytes, inodes: 1 }, world.disks.imagefs);
    if (!snapshots.has(layer.id)) add(layer, world.disks.imagefs);
  }
  return freed;
}

function layersOf(world: FakeWorld, container: FakeContainer): readonly Layer[] {
  return container.base === null ? [] : (world.images.get(container.base)?.layers ?? []);
}
