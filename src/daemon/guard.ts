import type { Settings } from '../config/settings.js';
import type { SpaceStatistics } from '../gc/disk-space.js';
import type { Looker } from '../manager/look.js';
import type { Clock } from '../ports/clock.js';
import { PortError } from '../ports/port-error.js';
import { AdmissionGuard, type GuardedFilesystem } from '../reclaim/admission-guard.js';

/** Which of our filesystems is which of the guard's: images lie on the runtime's, and the kubelet's directory on the root. */
const FILESYSTEMS = { runtime: 'imagefs', root: 'nodefs' } as const;

/** The guard that the settings want; null = none. */
export function admissionGuard(
  { outOfDisk }: Pick<Settings, 'outOfDisk'>,
  { looker, clock }: { readonly looker: Pick<Looker, 'lookAt'>; readonly clock: Clock },
): AdmissionGuard | null {
  const { reserve, transition } = outOfDisk;
  if (reserve === null) return null;
  const statistics = async (filesystem: GuardedFilesystem): Promise<SpaceStatistics> => {
    const look = await looker.lookAt(FILESYSTEMS[filesystem]);
    switch (look.kind) {
      case 'reading':
        return { capacity: look.capacity, available: look.available };
      case 'missing':
        throw new PortError(`Cannot tell what is free as the path must exist: ${look.path}`);
      case 'error':
        throw new PortError(`Cannot tell what is free as the path must be readable: ${look.path}: ${look.message}`);
      case 'hung':
        throw new PortError(`Cannot tell what is free as the path must answer: ${look.path}`);
    }
  };
  return new AdmissionGuard({ statistics, clock, reserve, transition });
}
