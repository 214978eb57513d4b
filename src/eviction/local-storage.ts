import type { FsLayout } from './layout.js';
import { inUnits, podLimit } from './pod-resources.js';
import type { PodSpec } from './pod-spec.js';
import type { ContainerStats, PodStats } from './pod-stats.js';
import type { Policy } from './policy.js';

/** The limit that a pod is over, with the numbers that say so, in bytes. */
export interface StorageViolation {
  readonly kind: 'emptyDirLimit' | 'podLimit' | 'containerLimit';
  /** The volume or the container; null for the pod as a whole. */
  readonly subject: string | null;
  readonly used: number;
  readonly limit: number;
}

/**
 * The first limit of its own that a pod is over, or null: the size of its emptyDirs, then the limit of the pod, then those of
 * its containers. An amount on the line is not over it. Independent of thresholds and of what the node has left. Mirrors
 * `localStorageEviction`; a volume whose use is not known, which ends the kubelet's process, is passed over.
 */
export function storageViolation(
  spec: PodSpec,
  stats: PodStats,
  layout: FsLayout,
  counts: Policy['eviction']['containerLimit'] = 'layer-and-logs',
): StorageViolation | null {
  const overVolume = overEmptyDirLimit(spec, stats);
  if (counts === 'layer-beside-logs-alone') {
    return overVolume ?? overPodLimit(spec, stats) ?? overContainerLimit(spec, stats, layout === 'one-disk');
  }
  // The container is named before the pod: it says more.
  return overVolume ?? overContainerLimit(spec, stats, true) ?? overPodLimit(spec, stats);
}

/** Whether a pod has any limit of that kind, so that measuring it is worth the while. */
export function hasStorageLimits({ volumes, containers }: PodSpec): boolean {
  return (
    volumes.some((volume) => volume.kind === 'emptyDir' && volume.sizeLimit !== null) ||
    containers.some(({ limits }) => limits['ephemeral-storage'] !== undefined)
  );
}

function overEmptyDirLimit(spec: PodSpec, stats: PodStats): StorageViolation | null {
  for (const volume of spec.volumes) {
    if (volume.kind !== 'emptyDir' || volume.sizeLimit === null || volume.sizeLimit.nano <= 0n) continue;
    // The last one of a name counts, as in a map that each overwrites.
    const used = stats.volumes.findLast(({ name }) => name === volume.name)?.use.bytes ?? null;
    const limit = inUnits(volume.sizeLimit.nano);
    if (used !== null && used > limit) return { kind: 'emptyDirLimit', subject: volume.name, used, limit };
  }
  return null;
}

function overPodLimit(spec: PodSpec, stats: PodStats): StorageViolation | null {
  const limit = podLimit(spec, 'ephemeral-storage');
  const used = stats.ephemeralStorage ?? 0;
  return limit !== null && used > limit ? { kind: 'podLimit', subject: null, used, limit } : null;
}

/** The kubelet counts writable layers only where they share a disk with the logs. */
function overContainerLimit(spec: PodSpec, stats: PodStats, withLayers: boolean): StorageViolation | null {
  const limits = new Map(
    spec.containers.flatMap(({ name, kind, limits: own }) => {
      const limit = own['ephemeral-storage'];
      return kind !== 'regular' || limit === undefined || limit.nano === 0n ? [] : [[name, inUnits(limit.nano)]];
    }),
  );
  for (const container of stats.containers) {
    const limit = limits.get(container.name);
    const used = bytesOf(container, withLayers);
    if (limit !== undefined && used > limit) {
      return { kind: 'containerLimit', subject: container.name, used, limit };
    }
  }
  return null;
}

function bytesOf({ logs, rootfs }: ContainerStats, withLayer: boolean): number {
  return (logs?.bytes ?? 0) + (withLayer ? (rootfs?.bytes ?? 0) : 0);
}
