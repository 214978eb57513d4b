import type { MemoryScope } from '../../src/eviction/memory-notifier.js';
import type { MemoryReading, NodeStats, NodeStatsPort, PodsMemory } from '../../src/ports/node-stats.js';
import { PortError } from '../../src/ports/port-error.js';
import { type Bytes, bytes, count, type Instant } from '../../src/units/units.js';

/** Memory and processes as a test sets them. */
export class FakeNodeStats implements NodeStatsPort {
  memoryFree = 8 * 1024 ** 3;
  pidsFree = 30_000;
  /** Hears each reading of the usage alone. */
  onUsage: () => void = () => {};
  podsMemory: PodsMemory = { kind: 'absent', why: 'there is no cgroup kubepods' };

  constructor(readonly now: () => Instant) {}

  async read(): Promise<NodeStats> {
    const at = this.now();
    return {
      memory: this.#memory(),
      podsMemory: this.podsMemory,
      pids: { available: this.pidsFree, capacity: count(32_768), at },
      problems: [],
    };
  }

  async memoryUsage(scope: MemoryScope): Promise<Bytes> {
    this.onUsage();
    if (scope === 'node') return this.#memory().usage;
    if (this.podsMemory.kind === 'reading') return this.podsMemory.reading.usage;
    throw new PortError(`Cannot read memory: ${this.podsMemory.why}`);
  }

  /** A tenth of what is used are file pages that nobody touched lately. */
  #memory(): MemoryReading {
    const capacity = bytes(16 * 1024 ** 3);
    const workingSet = bytes(Math.max(0, capacity - this.memoryFree));
    const usage = bytes(Math.round(workingSet / 0.9));
    return { available: bytes(this.memoryFree), capacity, workingSet, usage, at: this.now() };
  }

  async kubeletRuns(): Promise<boolean> {
    return false;
  }
}
