import type { PathLook } from '../eviction/path-look.js';
import type { MountsPort } from '../ports/mounts.js';
import { PortError } from '../ports/port-error.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { Bytes, Count, Instant } from '../units/units.js';

/** What is known of a filesystem; null = nobody says. */
export interface FilesystemStatistics {
  readonly at: Instant | null;
  readonly available: Bytes | null;
  readonly capacity: Bytes | null;
  readonly inodesFree: Count | null;
  readonly inodes: Count | null;
  /** Claimed by the runtime: bytes of images as it counts them, not usage of the filesystem. */
  readonly used: Bytes | null;
  readonly inodesUsed: Count | null;
}

/** The image filesystem and that of writable layers: the CRI provider knows one for both. */
export interface ImageFsStatistics {
  readonly imageFs: FilesystemStatistics;
  readonly containerFs: FilesystemStatistics;
}

/**
 * Statistics of the runtime's first image filesystem: usage from the runtime, all else from a look at its mount point. A mount
 * point that this machine does not have gives a partial answer. Mirrors `ImageFsStats` of the CRI provider, which stops where
 * the runtime says no usage; here that is null.
 * @throws RuntimeError when the runtime cannot be asked; PortError when it names no filesystem, or the look failed
 */
export async function imageFsStatistics(
  runtime: Pick<RuntimePort, 'imageFsInfo'>,
  mounts: MountsPort,
  signal?: AbortSignal,
): Promise<ImageFsStatistics> {
  const [first] = (await runtime.imageFsInfo(signal)).imageFilesystems;
  if (first === undefined) {
    throw new PortError('Cannot tell how full the image filesystem is as the runtime must name one: none');
  }
  const local = first.mountpoint === null ? UNSEEN : localPart(await mounts.look(first.mountpoint));
  const statistics = { ...local, at: first.at, used: first.usedBytes, inodesUsed: first.inodesUsed };
  return { imageFs: statistics, containerFs: statistics };
}

type LocalPart = Pick<FilesystemStatistics, 'available' | 'capacity' | 'inodesFree' | 'inodes'>;
const UNSEEN: LocalPart = { available: null, capacity: null, inodesFree: null, inodes: null };

function localPart(look: PathLook): LocalPart {
  switch (look.kind) {
    case 'reading':
      return {
        available: look.available,
        capacity: look.capacity,
        inodesFree: look.inodes?.free ?? null,
        inodes: look.inodes?.total ?? null,
      };
    case 'missing':
      return UNSEEN;
    case 'error':
      throw new PortError(`Cannot look at the image filesystem at ${look.path}: ${look.message}`);
    case 'hung':
      throw new PortError(
        `Cannot look at the image filesystem at ${look.path} as an earlier look must come back first`,
      );
  }
}
