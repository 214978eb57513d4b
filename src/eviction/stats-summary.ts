import type { Instant } from '../units/units.js';
import type { FilesystemClaim, PairReading, Readings } from './observe.js';

/** A number that a summary may leave out. */
type Told = number | null;

interface MemoryTold {
  readonly available: Told;
  readonly workingSet: Told;
  readonly at: Instant | null;
}

interface FilesystemTold {
  readonly available: Told;
  readonly capacity: Told;
  readonly inodesFree: Told;
  readonly inodes: Told;
  readonly at: Instant | null;
}

/** A node's numbers as the kubelet's stats summary has them. Each section and each number in it may be missing. */
export interface StatsSummary {
  readonly memory: MemoryTold | null;
  /** The system container `pods`: the cgroup of all pods. */
  readonly podsCgroup: MemoryTold | null;
  readonly nodeFs: FilesystemTold | null;
  readonly imageFs: FilesystemTold | null;
  readonly containerFs: FilesystemTold | null;
  readonly processes: { readonly max: Told; readonly running: Told; readonly at: Instant | null } | null;
}

/**
 * Readings from a summary, for numbers that were recorded instead of measured. Half a pair is none. The capacity of memory is
 * what is available and what is in use together. Mirrors the reading part of `makeSignalObservations`.
 */
export function readingsOf(summary: StatsSummary): Readings {
  return {
    filesystems: {
      nodefs: claimOf(summary.nodeFs),
      imagefs: claimOf(summary.imageFs),
      containerfs: claimOf(summary.containerFs),
    },
    memory: memoryOf(summary.memory),
    allocatableMemory: memoryOf(summary.podsCgroup),
    pids: processesOf(summary.processes),
  };
}

function claimOf(told: FilesystemTold | null): FilesystemClaim {
  const { available = null, capacity = null, inodesFree = null, inodes = null, at = null } = told ?? {};
  return {
    kind: 'claim',
    bytes: available === null || capacity === null ? null : { available, capacity },
    inodes: inodesFree === null || inodes === null ? null : { free: inodesFree, total: inodes },
    at,
  };
}

function memoryOf(told: MemoryTold | null): PairReading | null {
  if (told === null || told.available === null || told.workingSet === null) return null;
  return { available: told.available, capacity: told.available + told.workingSet, at: told.at };
}

/** More may run than the limit allows, where that was lowered. */
function processesOf(told: StatsSummary['processes']): PairReading | null {
  if (told === null || told.max === null || told.running === null) return null;
  return { available: told.max - told.running, capacity: told.max, at: told.at };
}
