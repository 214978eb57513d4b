import { readlink } from 'node:fs/promises';
import { isLocal, type Mount, type MountTable, mountOf } from './mount-table.js';

/** Where a path leads to, found without touching any foreign mount. */
export interface Place {
  /** The path without symbolic links, as far as they could be followed. */
  readonly path: string;
  /** `null` when the mount table is empty. */
  readonly mount: Mount | null;
  /** Whether an answer depends on somebody else than the local kernel. */
  readonly foreign: boolean;
}

/** The kernel's limit (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * Follows the symbolic links of an absolute path step by step and stops in front of the first foreign mount, since to follow
 * a link there can hang as well as any other call. What is missing or forbidden ends the walk: the rest is taken literally,
 * and the look itself will say what is wrong.
 */
export async function locate(table: MountTable, path: string): Promise<Place> {
  const todo = path.split('/');
  let real = '';
  let links = 0;
  for (let part = todo.shift(); part !== undefined; part = todo.shift()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      real = real.slice(0, Math.max(0, real.lastIndexOf('/')));
      continue;
    }
    const next = `${real}/${part}`;
    const literally = () => placeOf(table, [next, ...todo.filter((name) => name !== '')].join('/'));
    const { foreign } = placeOf(table, next);
    if (foreign) return { ...literally(), foreign };
    const link = await targetOf(next);
    if (link.kind === 'unknown') return literally();
    if (link.kind === 'none') {
      real = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return literally();
    if (link.target.startsWith('/')) real = '';
    todo.unshift(...link.target.split('/'));
  }
  return placeOf(table, real === '' ? '/' : real);
}

function placeOf(table: MountTable, path: string): Place {
  const mount = mountOf(table, path);
  // Without a table nothing is known to be local; a child process is the careful way.
  return { path, mount, foreign: mount === null || !isLocal(mount) };
}

type Link =
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

async function targetOf(path: string): Promise<Link> {
  try {
    return { kind: 'link', target: await readlink(path) };
  } catch (error) {
    // EINVAL is how the kernel says "not a symbolic link".
    return { kind: (error as NodeJS.ErrnoException).code === 'EINVAL' ? 'none' : 'unknown' };
  }
}
