import type { Bytes, Count, Instant } from '../units/units.js';
import type { DeviceId } from './layout.js';

/** What statfs says of one filesystem. */
export interface FilesystemReading {
  readonly kind: 'reading';
  readonly device: DeviceId;
  /** Free for unprivileged users (`f_bavail`), not what root could still take. */
  readonly available: Bytes;
  /** Capacity 0 is no reading: `observe` turns it into "cannot say". */
  readonly capacity: Bytes;
  /** `null` when the filesystem counts no inodes (btrfs, zfs): not measurable, never zero. */
  readonly inodes: { readonly free: Count; readonly total: Count } | null;
  readonly readOnly: boolean;
  readonly at: Instant;
}

/** What came of looking at a path. Only a `reading` can put a signal under pressure. */
export type PathLook =
  | FilesystemReading
  | { readonly kind: 'missing'; readonly path: string; readonly at: Instant }
  | { readonly kind: 'error'; readonly path: string; readonly message: string; readonly at: Instant }
  /** An earlier look at this mount has not come back yet (a dead NFS server, a stopped FUSE daemon). */
  | { readonly kind: 'hung'; readonly path: string; readonly since: Instant; readonly at: Instant };
