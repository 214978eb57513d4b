import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { bytes, count } from '../units/units.js';
import { accountedDisk } from './accounted-disk.js';
import { type DiskKeeper, startDiskKeeper } from './disk-keeper.js';
import type { DiskOptions } from './options.js';
import type { DiskReading, SmallDisk } from './small-disk.js';

/** The disks of a run, and how to be rid of them. */
export interface Disks {
  readonly image: SmallDisk;
  readonly container: SmallDisk;
  readonly node: SmallDisk;
  readonly all: readonly SmallDisk[];
  close(): Promise<void>;
}

const LAYOUTS = {
  shared: { names: ['disk'], image: 0, container: 0, node: 0 },
  'image-disk': { names: ['imagefs', 'nodefs'], image: 0, container: 0, node: 1 },
  split: { names: ['imagefs', 'nodefs'], image: 0, container: 1, node: 1 },
} as const;

const DEFAULT_SIZE = 512 * 1024 * 1024;

/**
 * Makes the disks under `base`. With `means: 'auto'` it takes mounts where this process may mount, else a user
 * namespace with tmpfs in it, else a directory whose use is accounted.
 * @throws Error when the means that were asked for are not to be had.
 */
export async function openDisks(base: string, layout: keyof typeof LAYOUTS, options: DiskOptions): Promise<Disks> {
  const sizeBytes = options.sizeBytes ?? DEFAULT_SIZE;
  const inodes = options.inodes ?? Math.max(1024, Math.floor(sizeBytes / 16384));
  const { names, ...roles } = LAYOUTS[layout];
  const asked = options.means ?? 'auto';
  const filesystem = options.filesystem ?? 'tmpfs';
  const failures: unknown[] = [];
  for (const kind of asked === 'auto' ? (['mounted', 'namespace', 'accounted'] as const) : [asked]) {
    // Loop devices belong to the first user namespace, so a disk in a namespace is always a tmpfs.
    const own = kind === 'namespace' ? 'tmpfs' : filesystem;
    try {
      const keeper = await startDiskKeeper(
        base,
        kind === 'accounted' ? [] : names.map((name) => ({ name, filesystem: own, sizeBytes, inodes })),
        kind === 'namespace',
      );
      const disks =
        kind === 'accounted'
          ? await Promise.all(names.map((name) => accountedDisk(join(base, name), sizeBytes, inodes)))
          : await Promise.all(names.map((name) => mountedDisk(join(keeper.root, name), kind, own, sizeBytes)));
      return withRoles(disks, roles, keeper);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `Cannot make a small disk as no means worked: ${failures.map(String).join('; ')}`);
}

function withRoles(
  disks: readonly (SmallDisk & { close?(): void })[],
  roles: Record<'image' | 'container' | 'node', number>,
  keeper: DiskKeeper,
): Disks {
  // The layout table names only disks that were made.
  const at = (index: number): SmallDisk => disks[index] as SmallDisk;
  return {
    image: at(roles.image),
    container: at(roles.container),
    node: at(roles.node),
    all: disks,
    close: async () => {
      for (const disk of disks) disk.close?.();
      await keeper.close();
    },
  };
}

async function mountedDisk(
  path: string,
  kind: 'mounted' | 'namespace',
  filesystem: 'tmpfs' | 'ext4' | 'xfs',
  sizeBytes: number,
): Promise<SmallDisk> {
  const read = async (): Promise<DiskReading> => {
    const found = await statfs(path);
    return {
      available: bytes(found.bavail * found.bsize),
      capacity: bytes(found.blocks * found.bsize),
      inodes: { free: count(found.ffree), total: count(found.files) },
    };
  };
  const { capacity } = await read();
  // A path that does not lead onto the new disk leads onto the one below, which is of another size.
  if (capacity > sizeBytes || capacity < sizeBytes / 2) {
    throw new Error(
      `Cannot use the small disk as its capacity is not the ${sizeBytes} bytes asked for: ${capacity} at ${path}`,
    );
  }
  const mebibytes = Math.round(sizeBytes / 1024 / 1024);
  const where = kind === 'mounted' ? `mounted at ${path}` : `in a user namespace of its own, reached as ${path}`;
  return {
    kind,
    filesystem,
    path,
    read,
    spend: () => undefined,
    budget: null,
    describe: () => `a real ${filesystem} of ${mebibytes} MiB, ${where}`,
  };
}
