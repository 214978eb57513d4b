import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from 'node:fs';

/** Each level of a tree keeps one file descriptor open. Nobody's logs are nested that deep. */
const MAX_DEPTH = 256;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * Removes the entry `name` of the directory `root` with all it holds. Missing is fine. Throws at the first thing that cannot
 * be removed; what went before stays removed.
 *
 * Each directory is opened without following links and its entries are reached through `/proc/self/fd`, so that nobody can
 * swap a directory for a symbolic link between the look and the removal and have us empty another one. The kernel's mount id
 * is compared at each level: a bind mount of the same device has the same `st_dev`, and what it shows belongs to others.
 */
export function removeTree(root: string, name: string): void {
  const top = ifPresent(() => openSync(root, O_RDONLY | O_DIRECTORY));
  if (top === null) return;
  try {
    removeEntry(top, name, { mount: mountIdOf(top), path: `${root}/${name}` }, 0);
  } finally {
    closeSync(top);
  }
}

/**
 * Removes the file that `path`, a relative path, leads to under the directory `root`, and all files beside it whose names
 * begin with its name. Missing is fine. No link is followed below `root`, not even in the middle of the path. Tries all, then
 * throws the first error.
 */
export function removeLogs(root: string, path: string): void {
  const names = path.split('/');
  const file = names.pop() ?? '';
  const top = ifPresent(() => openSync(root, O_RDONLY | O_DIRECTORY));
  if (top === null) return;
  const opened = [top];
  let directory = top;
  const mount = mountIdOf(directory);
  try {
    for (const name of names) {
      const below: number | null = ifPresent(() =>
        openSync(`/proc/self/fd/${directory}/${name}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
      );
      if (below === null) return;
      opened.push(below);
      directory = below;
      if (mountIdOf(directory) !== mount)
        throw new Error(`Cannot remove ${path} as it must not be on another device or mount`);
    }
    const errors = readdirSync(`/proc/self/fd/${directory}`, { withFileTypes: true })
      .filter((entry) => entry.name.startsWith(file) && !entry.isDirectory())
      .flatMap(({ name }) => {
        try {
          ifPresent(() => unlinkSync(`/proc/self/fd/${directory}/${name}`));
          return [];
        } catch (error) {
          return [error];
        }
      });
    if (errors.length > 0) throw errors[0];
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

interface Within {
  readonly mount: string;
  /** For messages only. */
  readonly path: string;
}

function removeEntry(parent: number, name: string, within: Within, depth: number): void {
  const entry = `/proc/self/fd/${parent}/${name}`;
  const status = ifPresent(() => lstatSync(entry));
  if (status === null) return;
  if (!status.isDirectory()) {
    // Also a symbolic link itself; the kernel refuses (EBUSY) when something is mounted on the file.
    ifPresent(() => unlinkSync(entry));
    return;
  }
  if (depth >= MAX_DEPTH)
    throw new Error(`Cannot remove ${within.path} as it must be at most ${MAX_DEPTH} levels deep`);
  const directory = ifPresent(() => openSync(entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (directory === null) return;
  try {
    if (mountIdOf(directory) !== within.mount) {
      throw new Error(`Cannot remove ${within.path} as it must not be on another device or mount`);
    }
    for (const child of readdirSync(`/proc/self/fd/${directory}`)) {
      removeEntry(directory, child, { mount: within.mount, path: `${within.path}/${child}` }, depth + 1);
    }
  } finally {
    closeSync(directory);
  }
  ifPresent(() => rmdirSync(entry));
}

/** Null when it is gone: that is what was wanted. */
function ifPresent<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function mountIdOf(fd: number): string {
  const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
  if (id === undefined) throw new Error('Cannot tell the mount of a directory as fdinfo must have mnt_id (Linux 3.15)');
  return id;
}
