import type { WriteCount, WriteCounts, WriteCountsPort } from '../../src/ports/write-counts.js';
import { bytes } from '../../src/units/units.js';
import type { FakeWorld } from './fake-world.js';

/** How a pod of a world writes. */
export interface FakeWriter {
  readonly uid: string;
  readonly container: string;
  readonly perSecond: number;
  /** Whether the kernel's counts show it; what a runtime writes for a pod, and what goes to memory, they do not. */
  readonly isCounted?: boolean;
  /** Whether its files grow; one that overwrites does not, nor one that writes to another disk. */
  readonly grows?: boolean;
}

/** Pods that write into their emptyDirs while the clock of their world goes on. Whoever asks sees what was written by then. */
export class FakeWriters implements WriteCountsPort {
  reads = 0;
  readonly #counts = new Map<string, number>();
  #settledAt: number;

  constructor(
    readonly world: FakeWorld,
    readonly writers: readonly FakeWriter[],
  ) {
    this.#settledAt = world.clock.now();
    for (const { container } of writers) this.#counts.set(container, 1_000_000);
    // Looks and walks of the world see what was written until then.
    const { nodefs } = world.disks;
    const read = nodefs.reading.bind(nodefs);
    nodefs.reading = () => {
      this.settle();
      return read();
    };
  }

  /** Writes what is due by now, as long as the pod lives and there is space. */
  settle(): void {
    const now = this.world.clock.now();
    const seconds = (now - this.#settledAt) / 1_000;
    if (seconds <= 0) return;
    this.#settledAt = now;
    for (const { uid, container, perSecond, isCounted = true, grows = true } of this.writers) {
      if (this.world.containers.get(container)?.state !== 'running') continue;
      const written = Math.round(perSecond * seconds);
      if (isCounted) this.#counts.set(container, (this.#counts.get(container) ?? 0) + written);
      if (!grows) continue;
      const fits = bytes(Math.min(written, this.world.disks.nodefs.freeBytes));
      const held = this.world.volumes.get(uid) ?? { bytes: 0, inodes: 1 };
      this.world.volumes.set(uid, { ...held, bytes: held.bytes + fits });
      this.world.disks.nodefs.take({ bytes: fits, inodes: 0 });
    }
  }

  async read(): Promise<WriteCounts> {
    this.reads += 1;
    this.settle();
    const counts = [...this.#counts].map(([id, processes]): readonly [string, WriteCount] => [
      id,
      { processes, cgroup: null },
    ]);
    return { at: this.world.clock.now(), counts: new Map(counts) };
  }
}
