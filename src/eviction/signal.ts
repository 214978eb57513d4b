/** The three filesystems that the kubelet's eviction manager knows. */
export type FilesystemName = 'nodefs' | 'imagefs' | 'containerfs';

/** What a node runs out of. `inodes` and `pids` are the kubelet's internal resource names. */
export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** A node condition as the kubelet reports it. */
export type NodeCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

interface SignalRow {
  readonly resource: Resource;
  readonly condition: NodeCondition;
  /** The filesystem that is looked at; null for memory and processes. */
  readonly filesystem: FilesystemName | null;
  readonly unit: 'bytes' | 'count';
}

/**
 * The nine eviction signals, each with the resource it measures and the condition it raises.
 * Mirrors `signalToResource` and `signalToNodeCondition` of the kubelet's eviction package, in its order.
 */
export const SIGNALS = {
  'memory.available': { resource: 'memory', condition: 'MemoryPressure', filesystem: null, unit: 'bytes' },
  'allocatableMemory.available': { resource: 'memory', condition: 'MemoryPressure', filesystem: null, unit: 'bytes' },
  'nodefs.available': {
    resource: 'ephemeral-storage',
    condition: 'DiskPressure',
    filesystem: 'nodefs',
    unit: 'bytes',
  },
  'nodefs.inodesFree': { resource: 'inodes', condition: 'DiskPressure', filesystem: 'nodefs', unit: 'count' },
  'imagefs.available': {
    resource: 'ephemeral-storage',
    condition: 'DiskPressure',
    filesystem: 'imagefs',
    unit: 'bytes',
  },
  'imagefs.inodesFree': { resource: 'inodes', condition: 'DiskPressure', filesystem: 'imagefs', unit: 'count' },
  'containerfs.available': {
    resource: 'ephemeral-storage',
    condition: 'DiskPressure',
    filesystem: 'containerfs',
    unit: 'bytes',
  },
  'containerfs.inodesFree': { resource: 'inodes', condition: 'DiskPressure', filesystem: 'containerfs', unit: 'count' },
  'pid.available': { resource: 'pids', condition: 'PIDPressure', filesystem: null, unit: 'count' },
} as const satisfies Record<string, SignalRow>;

/** A name such as `nodefs.available`. */
export type Signal = keyof typeof SIGNALS;

/** All signals, in the kubelet's order. */
export const ALL_SIGNALS = Object.keys(SIGNALS) as readonly Signal[];

/** Whether a text names a signal. */
export function isSignal(text: string): text is Signal {
  return Object.hasOwn(SIGNALS, text);
}
