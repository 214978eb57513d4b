import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { KnownProcess } from './leftovers.js';

/**
 * Directories of the control groups that the processes are in, other than our own. A runtime that is killed
 * leaves them empty behind: they belong to no namespace.
 */
export function cgroupsOf(processes: readonly KnownProcess[]): readonly string[] {
  const ours = new Set(memberships('self'));
  const theirs = processes.flatMap(({ pid }) => memberships(String(pid)));
  const paths = new Set(theirs.filter((path) => !ours.has(path) && path !== '/'));
  const roots = mountPoints();
  return [...paths].flatMap((path) => roots.map((root) => join(root, path)));
}

/**
 * Removes the directories and those above them that this leaves empty; the ones of others stay. Returns those that could
 * not be removed, since a process is still in them.
 */
export function removeCgroups(directories: readonly string[]): readonly string[] {
  const roots = new Set(mountPoints());
  for (const directory of directories) {
    removeTree(directory);
    for (let above = dirname(directory); !roots.has(above) && above !== '/'; above = dirname(above)) {
      if (!remove(above)) break;
    }
  }
  return directories.filter((directory) => existsSync(directory));
}

function removeTree(directory: string): void {
  try {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (entry.isDirectory()) removeTree(join(directory, entry.name));
    }
  } catch {
    // Gone already: the runtime removes those of containers that ended in good order.
    return;
  }
  remove(directory);
}

function remove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}

function memberships(pid: string): readonly string[] {
  try {
    const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n');
    return lines.map((line) => line.split(':').slice(2).join(':'));
  } catch {
    return [];
  }
}

function mountPoints(): readonly string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(' ')[4])
    .filter((path) => path !== undefined);
}
