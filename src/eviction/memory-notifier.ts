import { lineOf } from './line.js';
import type { Threshold } from './threshold.js';

/** Memory of the node or of the pods' cgroup, in bytes; null = not known. */
export interface MemoryUse {
  readonly available: number | null;
  readonly workingSet: number | null;
  readonly usage: number | null;
}

/** Whose memory a threshold watches. */
export type MemoryScope = 'node' | 'pods';

/** The scope of a memory threshold. */
export function scopeOf(threshold: Threshold): MemoryScope {
  return threshold.signal === 'allocatableMemory.available' ? 'pods' : 'node';
}

/**
 * The usage, in bytes, at which the kernel is to tell that a threshold is met; null when a number for it is missing. The kernel
 * counts inactive file pages as used and the kubelet does not, so they are added. Mirrors `UpdateThreshold`.
 */
export function usageToWatch(threshold: Threshold, { available, workingSet, usage }: MemoryUse): number | null {
  if (available === null || workingSet === null || usage === null) return null;
  const capacity = available + workingSet;
  const inactive = usage - workingSet;
  return capacity - lineOf({ limit: threshold.limit, minReclaim: null }, capacity).line + inactive;
}

/** A notifier's name for the log, such as `soft allocatable memory threshold`. Mirrors `Description`. */
export function describeNotifier(threshold: Threshold): string {
  const scope = scopeOf(threshold) === 'pods' ? 'allocatable memory' : 'memory';
  return `${threshold.urgency.kind} ${scope} threshold`;
}
