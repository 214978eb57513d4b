import type { NodeStats, NodeStatsPort } from '../../src/ports/node-stats.js';
import { bytes, count, type Instant } from '../../src/units/units.js';

/** Memory and processes as a test sets them. */
export class FakeNodeStats implements NodeStatsPort {
  memoryFree = 8 * 1024 ** 3;
  pidsFree = 30_000;

  constructor(readonly now: () => Instant) {}

  async read(): Promise<NodeStats> {
    const at = this.now();
    return {
      memory: { available: bytes(this.memoryFree), capacity: bytes(16 * 1024 ** 3), at },
      pids: { available: this.pidsFree, capacity: count(32_768), at },
      problems: [],
    };
  }

  async kubeletRuns(): Promise<boolean> {
    return false;
  }
}
