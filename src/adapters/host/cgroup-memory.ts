import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PortError } from '../../ports/port-error.js';
import { type Bytes, bytes } from '../../units/units.js';
import { loneNumber, type MemInfo, memoryLimit, memoryStat, workingSet } from './memory-text.js';

/** Used memory with and without inactive file pages. */
export interface UsedMemory {
  readonly usage: Bytes;
  readonly workingSet: Bytes;
}

/** The same of a cgroup, and the limit it is held to; null = none. */
export interface CgroupMemory extends UsedMemory {
  readonly limit: Bytes | null;
}

/** The inode number of the root directory of every cgroup hierarchy. */
const ROOT_INODE = 1n;

/** The names of the two versions' files. In the statistics of version 1 `total_` means: those of the groups below too. */
const V1 = {
  usage: 'memory.usage_in_bytes',
  limit: 'memory.limit_in_bytes',
  inactiveFile: 'total_inactive_file',
} as const;
const V2 = { usage: 'memory.current', limit: 'memory.max', inactiveFile: 'inactive_file' } as const;
type Files = typeof V1 | typeof V2;

/**
 * The node's used memory. In the order in which the sources are asked:
 * - cgroup v1: `memory.usage_in_bytes` - `total_inactive_file` of the root of the memory hierarchy;
 * - cgroup v2: `anon` + `file` - `inactive_file` of the root's `memory.stat`, since the root of v2 has no `memory.current`
 *   (the container runtimes' library that cAdvisor reads with does the same sum);
 * - neither root visible (a container with a cgroup namespace sees its own group as the root, which would make the node look
 *   idle) or the controller is off: the same page counters of the whole node from `/proc/meminfo`.
 */
export async function nodeMemory(cgroup: string, info: () => MemInfo): Promise<UsedMemory> {
  const v1 = join(cgroup, 'memory');
  // Not synchronous: the kernel may sum over thousands of groups to answer.
  if (isHierarchyRoot(v1)) return usedMemory(v1, V1);
  const v2 = await rootStatistics(cgroup);
  if (v2 !== null) {
    const usage = rootUsage(v2);
    return { usage, workingSet: workingSet(usage, memoryStat(v2, 'inactive_file')) };
  }
  const { usage, inactiveFile } = info();
  return { usage, workingSet: workingSet(usage, inactiveFile) };
}

/** The usage in it alone, which spares the statistics of version 1. */
export async function nodeUsage(cgroup: string, info: () => MemInfo): Promise<Bytes> {
  const v1 = join(cgroup, 'memory');
  if (isHierarchyRoot(v1)) return numberIn(v1, V1.usage);
  const v2 = await rootStatistics(cgroup);
  return v2 === null ? info().usage : rootUsage(v2);
}

/** Memory of the first of these cgroups that exists, named below the root of the hierarchy; null when none does. */
export async function cgroupMemory(cgroup: string, names: readonly string[]): Promise<CgroupMemory | null> {
  const found = firstOf(cgroup, names);
  if (found === null) return null;
  const { directory, files } = found;
  const limit = await readFile(join(directory, files.limit), 'utf8').catch(nullWhenMissing);
  // The root of version 2 has no limit, and no file for one.
  return { ...(await usedMemory(directory, files)), limit: limit === null ? null : memoryLimit(limit, files.limit) };
}

/** The usage in it alone. Throws a `PortError` when none of them exists. */
export async function cgroupUsage(cgroup: string, names: readonly string[]): Promise<Bytes> {
  const found = firstOf(cgroup, names);
  if (found === null) throw new PortError(`Cannot read memory as one of these cgroups must exist: ${names.join(', ')}`);
  return numberIn(found.directory, found.files.usage);
}

/** Whether a group is there is answered from memory in a few us, a tenth of a trip to the thread pool. */
function firstOf(cgroup: string, names: readonly string[]): { directory: string; files: Files } | null {
  for (const name of names) {
    for (const [directory, files] of [
      [join(cgroup, 'memory', name), V1],
      [join(cgroup, name), V2],
    ] as const) {
      if (existsSync(join(directory, files.usage))) return { directory, files };
    }
  }
  return null;
}

async function usedMemory(directory: string, files: Files): Promise<UsedMemory> {
  const [usage, statistics] = await Promise.all([
    numberIn(directory, files.usage),
    readFile(join(directory, 'memory.stat'), 'utf8'),
  ]);
  return { usage, workingSet: workingSet(usage, memoryStat(statistics, files.inactiveFile)) };
}

async function numberIn(directory: string, file: string): Promise<Bytes> {
  return bytes(loneNumber(await readFile(join(directory, file), 'utf8'), file));
}

/** `memory.stat` of the root of version 2; null where that root or the controller is not to be seen. */
async function rootStatistics(cgroup: string): Promise<string | null> {
  if (!isHierarchyRoot(cgroup)) return null;
  return readFile(join(cgroup, 'memory.stat'), 'utf8').catch(nullWhenMissing);
}

function rootUsage(statistics: string): Bytes {
  return bytes(memoryStat(statistics, 'anon') + memoryStat(statistics, 'file'));
}

function isHierarchyRoot(directory: string): boolean {
  return statSync(directory, { bigint: true, throwIfNoEntry: false })?.ino === ROOT_INODE;
}

function nullWhenMissing(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException; // What node:fs throws carries one.
  if (code === 'ENOENT') return null;
  throw error;
}
