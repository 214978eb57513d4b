import type { DeviceId } from '../eviction/layout.js';

/** What files hold that have no name any more, because processes keep them open. */
export interface HeldFiles {
  readonly bytes: number;
  readonly inodes: number;
}

/** What the kernel tells of the processes of one container. */
export interface ContainerProcesses {
  /** Where its writable layer lies, as far as this process can walk there; null = not found. */
  readonly layerDirectory: string | null;
  /** Deleted files that its processes hold open, by device; each file once, however many hold it. */
  readonly deletedOpen: ReadonlyMap<DeviceId, HeldFiles>;
  /** False when not everything could be looked at: the amounts are lower bounds. */
  readonly isComplete: boolean;
}

/** What the kernel knows of containers by their processes: those whose control group names the container's id. */
export interface ContainerProcessesPort {
  /** By id; a container without processes, or one that cannot be found, is missing. */
  look(containers: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, ContainerProcesses>>;
}
