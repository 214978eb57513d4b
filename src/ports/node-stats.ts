import type { Bytes, Count, Instant } from '../units/units.js';

/** Memory of the node: the kubelet's sense (capacity minus working set), not MemAvailable. */
export interface MemoryReading {
  readonly available: Bytes;
  readonly capacity: Bytes;
  readonly at: Instant;
}

/** Processes: the smaller of pid_max and threads-max, minus the tasks that exist. */
export interface PidReading {
  /** May be negative in the kernel's numbers; a plain number for that reason. */
  readonly available: number;
  readonly capacity: Count;
  readonly at: Instant;
}

/** Memory and process counts. A part that cannot be read is `null`; the reason is kept beside it. */
export interface NodeStats {
  readonly memory: MemoryReading | null;
  readonly pids: PidReading | null;
  readonly problems: readonly string[];
}

/** Reads the node's memory and process counts. Never rejects. */
export interface NodeStatsPort {
  read(): Promise<NodeStats>;
  /** Whether a kubelet runs on this node: its own eviction manager would act beside ours. */
  kubeletRuns(): Promise<boolean>;
}
