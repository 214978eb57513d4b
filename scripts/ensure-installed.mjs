// Installs the npm packages of the lockfile when node_modules is missing or older than it. Imported by the other scripts.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const root = new URL('..', import.meta.url).pathname;

/** Runs `npm ci` when it is needed; ends the process with npm's code when that fails. */
export function ensureInstalled() {
  const marker = join(root, 'node_modules/.package-lock.json');
  const lock = join(root, 'package-lock.json');
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return;
  // `npm ci` would empty the folder that the link leads to, which belongs to another tree.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  console.error('Installing npm packages (npm ci) …');
  const { status } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    console.error(`Cannot go on as the npm packages could not be installed: npm ci ended with ${status}`);
    process.exit(status ?? 1);
  }
}
