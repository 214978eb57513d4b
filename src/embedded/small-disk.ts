import type { Bytes, Count } from '../units/units.js';
import type { DiskMeans } from './options.js';

/** What a small disk holds, as statfs would say it. */
export interface DiskReading {
  readonly available: Bytes;
  readonly capacity: Bytes;
  readonly inodes: { readonly free: Count; readonly total: Count };
}

/** How a disk came about: `mounted` for all to see, in a `namespace` of its own, or an `accounted` directory. */
export type DiskKind = Exclude<DiskMeans, 'auto'>;

/** A small disk that can really be filled. */
export interface SmallDisk {
  readonly kind: DiskKind;
  readonly filesystem: 'tmpfs' | 'ext4' | 'xfs' | 'directory';
  /** Reaches the disk from this process. In a `namespace` it leads through /proc/PID/root and must not be resolved. */
  readonly path: string;
  /** Available, capacity and inodes now. Only an `accounted` disk answers other than statfs of the path. */
  read(): Promise<DiskReading>;
  /** Takes room for bytes that are about to be written; a mounted disk leaves that to the kernel. @throws ENOSPC */
  spend(size: number): void;
  /** What is left to spend, shared with the thread of the writers; null where the kernel keeps the account. */
  readonly budget: SharedArrayBuffer | null;
  /** One sentence for people. */
  describe(): string;
}
