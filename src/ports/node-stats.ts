import type { MemoryScope } from '../eviction/memory-notifier.js';
import type { Bytes, Count, Instant } from '../units/units.js';

/** Memory of the node or of a cgroup: the kubelet's sense (capacity minus working set), not MemAvailable. */
export interface MemoryReading {
  readonly available: Bytes;
  readonly capacity: Bytes;
  /** What the kernel counts as used, less inactive file pages. */
  readonly workingSet: Bytes;
  /** What the kernel counts as used. */
  readonly usage: Bytes;
  readonly at: Instant;
}

/** Memory of the cgroup that holds the pods, or why it has none to tell. */
export type PodsMemory =
  | { readonly kind: 'reading'; readonly reading: MemoryReading }
  /** `absent`: nobody has made such a cgroup, or nobody limits it. `failed`: it is there and cannot be read. */
  | { readonly kind: 'absent' | 'failed'; readonly why: string };

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
  readonly podsMemory: PodsMemory;
  readonly pids: PidReading | null;
  readonly problems: readonly string[];
}

/** Reads the node's memory and process counts. */
export interface NodeStatsPort {
  /** Never rejects. */
  read(): Promise<NodeStats>;
  /** What the kernel counts as used of a scope, alone and cheaply. Rejects when it cannot be read. */
  memoryUsage(scope: MemoryScope): Promise<Bytes>;
  /** Whether a kubelet runs on this node: its own eviction manager would act beside ours. */
  kubeletRuns(): Promise<boolean>;
}
