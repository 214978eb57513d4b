import { readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { isLocal, type Mount, type MountTable, mountOf, parseMountTable } from './mount-table.js';
import { containerProcesses, readProc } from './process-table.js';
import { deviceIdOf } from './raw-look.js';

/** What the processes of one container tell of its files. */
export interface SeenProcesses {
  readonly layerDirectory: string | null;
  /** By device, as looks at filesystems name it. */
  readonly deletedOpen: ReadonlyMap<string, { readonly bytes: number; readonly inodes: number }>;
  readonly isComplete: boolean;
}

/** `st_blocks` counts units of 512 bytes on Linux. */
const BLOCK = 512;
/** What procfs appends to the name of a file that has none any more. */
const DELETED = ' (deleted)';
/** Descriptors of one process that are looked at: a bound for a process that holds a million. */
const MAX_DESCRIPTORS = 20_000;

/**
 * Looks at the processes of these containers: where the writable layer lies, and which deleted files are held open. No file is
 * touched before the mount that it lies on is known to be local: the names come from the kernel's memory, and a stat on a
 * dead NFS server would never return. Mapped files whose descriptor is closed are not found.
 */
export function lookAtProcesses(
  proc: string,
  wanted: ReadonlySet<string>,
  isStopped: () => boolean,
): Map<string, SeenProcesses> {
  const own = parseMountTable(readProc(join(proc, 'self/mountinfo')) ?? '');
  const ownNamespace = linkOf(join(proc, 'self/ns/mnt'));
  const tables = new Map<string, MountTable>();
  const seen = new Map<string, Sighting>();
  for (const { pid, containers } of containerProcesses(proc, isStopped)) {
    const ids = containers.filter((id) => wanted.has(id));
    if (ids.length === 0) continue;
    const namespace = linkOf(join(proc, pid, 'ns/mnt')) ?? pid;
    const table = tables.get(namespace) ?? parseMountTable(readProc(join(proc, pid, 'mountinfo')) ?? '');
    tables.set(namespace, table);
    for (const id of ids) {
      const sighting = seen.get(id) ?? new Sighting();
      seen.set(id, sighting);
      // The root of a helper that lives in our own namespace is the host's.
      if (namespace !== ownNamespace) sighting.layerDirectory ??= layerOf(table, own);
      collectDeleted(sighting, join(proc, pid), table, own, isStopped);
    }
  }
  if (isStopped()) for (const sighting of seen.values()) sighting.isComplete = false;
  return new Map(
    [...seen].map(([id, { layerDirectory, deletedOpen, isComplete }]) => [
      id,
      { layerDirectory, deletedOpen, isComplete },
    ]),
  );
}

class Sighting {
  layerDirectory: string | null = null;
  readonly deletedOpen = new Map<string, { bytes: number; inodes: number }>();
  readonly files = new Set<string>();
  isComplete = true;
}

/** The `upperdir` of the overlay that a process has as its root, if it is a directory here too. */
function layerOf(table: MountTable, own: MountTable): string | null {
  const upper = upperOf(table.mounts.findLast(({ mountPoint }) => mountPoint === '/'));
  if (upper === null) return null;
  return isLocalDirectory(upper, own) ? upper : null;
}

function upperOf(mount: Mount | undefined): string | null {
  if (mount?.type !== 'overlay') return null;
  const upper = /(?:^|,)upperdir=(\/[^,]*)/.exec(mount.superOptions)?.[1];
  return upper ?? null;
}

function isLocalDirectory(path: string, own: MountTable): boolean {
  const mount = mountOf(own, path);
  return mount !== null && isLocal(mount) && (statusOf(path)?.isDirectory() ?? false);
}

function collectDeleted(
  sighting: Sighting,
  process: string,
  table: MountTable,
  own: MountTable,
  isStopped: () => boolean,
): void {
  const descriptors = namesIn(join(process, 'fd'));
  if (descriptors === null || descriptors.length > MAX_DESCRIPTORS) sighting.isComplete = false;
  for (const descriptor of descriptors?.slice(0, MAX_DESCRIPTORS) ?? []) {
    if (isStopped()) return;
    const path = join(process, 'fd', descriptor);
    const name = linkOf(path);
    if (name === null || !name.endsWith(DELETED) || !name.startsWith('/') || name.startsWith('/memfd:')) continue;
    const mount = mountOfDescriptor(join(process, 'fdinfo', descriptor), [table, own]);
    // One that lies on a mount which is in no table any more cannot be told from one on a dead server.
    if (mount === null) sighting.isComplete = false;
    if (mount === null || !isLocal(mount)) continue;
    count(sighting, statusOf(path), mount, own);
  }
}

function count(sighting: Sighting, status: Stats | null, mount: Mount, own: MountTable): void {
  if (status === null || status.nlink > 0 || !status.isFile()) return;
  const key = `${status.dev}:${status.ino}`;
  if (sighting.files.has(key)) return;
  sighting.files.add(key);
  const device = deviceUnder(status, mount, own);
  if (device === null) {
    sighting.isComplete = false;
    return;
  }
  const held = sighting.deletedOpen.get(device) ?? { bytes: 0, inodes: 0 };
  held.bytes += status.blocks * BLOCK;
  held.inodes += 1;
  sighting.deletedOpen.set(device, held);
}

/** A file of an overlay has the overlay's device number; its blocks lie where the upper directory does. */
function deviceUnder(status: Stats, mount: Mount, own: MountTable): string | null {
  if (mount.type !== 'overlay') return deviceIdOf(BigInt(status.dev), mount);
  const upper = upperOf(mount);
  const below = upper === null ? null : mountOf(own, upper);
  if (upper === null || below === null || !isLocal(below)) return null;
  const directory = statusOf(upper);
  return directory === null ? null : deviceIdOf(BigInt(directory.dev), below);
}

/** Ids of mounts are unique in the kernel, so that a file of another namespace is found in that one's table. */
function mountOfDescriptor(info: string, tables: readonly MountTable[]): Mount | null {
  const id = Number(/^mnt_id:\s*(\d+)$/m.exec(readProc(info) ?? '')?.[1]);
  for (const { mounts } of tables) {
    const mount = mounts.find((each) => each.id === id);
    if (mount !== undefined) return mount;
  }
  return null;
}

function namesIn(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory);
  } catch (error) {
    // Ended since it was listed: what it held it holds no more.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : null; // node:fs throws nothing else
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function statusOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
