import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'reclaimd-embedded-';

/**
 * Makes the private directory of a run, named after the process, and first removes those of runs that are over. The
 * keeper of a run cleans up by itself; what is found here was left when both were killed at once.
 */
export async function makeRunDirectory(parent: string): Promise<string> {
  await removeStaleRuns(parent);
  return mkdtemp(join(parent, `${PREFIX}${process.pid}-${await startOf(process.pid)}-`));
}

/** Removes the directories of dead runs that belong to this user; returns their paths. */
export async function removeStaleRuns(parent: string): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await readdir(parent)) {
    const owner = /^reclaimd-embedded-(\d+)-(\d+)-/.exec(name);
    if (owner === null || (await startOf(Number(owner[1]))) === owner[2]) continue;
    const path = join(parent, name);
    const found = await stat(path).catch(() => null);
    if (found === null || !found.isDirectory() || found.uid !== process.getuid?.()) continue;
    await unmountBelow(path);
    // The keeper of that run may be cleaning at this very moment: then it is not for us to fail.
    await rm(path, { recursive: true, force: true }).then(
      () => removed.push(path),
      () => undefined,
    );
  }
  return removed;
}

/** When a process started, in clock ticks since boot: tells it from a later one of the same number. Empty: no such process. */
async function startOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the name in parentheses and may hold blanks; the start is the 20th after it.
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

async function unmountBelow(path: string): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const below = mounts
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((mountpoint) => mountpoint.startsWith(`${path}/`));
  for (const mountpoint of below) {
    await once(spawn('sh', ['-c', 'umount -l -- "$1"', 'sh', mountpoint], { stdio: 'ignore' }), 'close');
  }
}
