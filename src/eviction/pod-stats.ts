import type { FsLayout } from './layout.js';
import { type FilesystemName, SIGNALS, type Signal } from './signal.js';

/** What something holds on a disk; null = that number is not known. */
export interface DiskUse {
  readonly bytes: number | null;
  readonly inodes: number | null;
}

/** One container's use. */
export interface ContainerStats {
  readonly name: string;
  readonly memoryWorkingSet: number | null;
  /** Its writable layer. */
  readonly rootfs: DiskUse | null;
  readonly logs: DiskUse | null;
}

/** What a pod uses. Null numbers are not known; a pod of which nothing at all is known has no stats. */
export interface PodStats {
  readonly memoryWorkingSet: number | null;
  readonly processes: number | null;
  /** Writable layers, logs and local volumes together, in bytes, as one source told it. */
  readonly ephemeralStorage: number | null;
  readonly containers: readonly ContainerStats[];
  readonly volumes: readonly { readonly name: string; readonly use: DiskUse }[];
}

/** A part of what a pod keeps on a disk. `images` adds nothing to any pod: layers of images are shared. */
export type MeasuredPart = 'images' | 'rootfs' | 'logs' | 'localVolumes';

const EVERYTHING = ['images', 'rootfs', 'logs', 'localVolumes'] as const;
const ALL_BUT_IMAGES = ['logs', 'localVolumes', 'rootfs'] as const;

/** Which parts lie on which filesystem. Mirrors the `fsStatsType` lists of `buildSignalToRankFunc`. */
export const MEASURED_PARTS = {
  'one-disk': { nodefs: EVERYTHING, imagefs: EVERYTHING, containerfs: EVERYTHING },
  'image-disk': { nodefs: ['logs', 'localVolumes'], imagefs: ['rootfs', 'images'], containerfs: ['rootfs', 'images'] },
  'split-disks': { nodefs: ALL_BUT_IMAGES, imagefs: ['images'], containerfs: ALL_BUT_IMAGES },
} as const satisfies Record<FsLayout, Record<FilesystemName, readonly MeasuredPart[]>>;

/** The parts that are measured for a signal; none for memory and processes. */
export function measuredParts(signal: Signal, layout: FsLayout): readonly MeasuredPart[] {
  const { filesystem } = SIGNALS[signal];
  return filesystem === null ? [] : MEASURED_PARTS[layout][filesystem];
}

/**
 * What a pod uses of a signal's resource, in the signal's unit. A number that is missing counts as 0. `isLocal` says which
 * volumes lie on the node's disk. Mirrors `podDiskUsage` and its likes for memory and processes.
 */
export function usageOf(
  stats: PodStats,
  signal: Signal,
  layout: FsLayout,
  isLocal: (volume: string) => boolean,
): number {
  const { resource } = SIGNALS[signal];
  switch (resource) {
    case 'memory':
      return stats.memoryWorkingSet ?? 0;
    case 'pids':
      return stats.processes ?? 0;
    case 'ephemeral-storage':
    case 'inodes':
      return diskUsage(stats, measuredParts(signal, layout), resource === 'inodes' ? 'inodes' : 'bytes', isLocal);
  }
}

/** The sum of the given parts. */
export function diskUsage(
  stats: PodStats,
  parts: readonly MeasuredPart[],
  unit: keyof DiskUse,
  isLocal: (volume: string) => boolean,
): number {
  const uses = parts.flatMap((part): readonly (DiskUse | null)[] => {
    switch (part) {
      case 'images':
        return [];
      case 'rootfs':
        return stats.containers.map(({ rootfs }) => rootfs);
      case 'logs':
        return stats.containers.map(({ logs }) => logs);
      case 'localVolumes':
        return stats.volumes.filter(({ name }) => isLocal(name)).map(({ use }) => use);
    }
  });
  return uses.reduce((sum, use) => sum + (use?.[unit] ?? 0), 0);
}
