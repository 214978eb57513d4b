/**
 * The program of the child process that looks at mounts whose server or daemon may not answer. A call that hangs keeps one of
 * this child's threads, not one of the daemon's, and a process can be left behind where a thread cannot.
 *
 * One JSON line per question (`[id, path]`) on standard input, one per answer (`[id, answer]`) on standard output. Ends by
 * SIGKILL as soon as its input ends: an ordinary exit would wait for the threads that hang.
 */
import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { RawLook } from './raw-look.js';
import { rawLook } from './raw-look.js';

/** Unit of the block counts of each filesystem, by device and `f_bsize`. */
const units = new Map<string, bigint>();

async function look(path: string): Promise<RawLook> {
  const raw = await rawLook(path);
  if (raw.kind === 'failure') return raw;
  const key = `${raw.device} ${raw.unit}`;
  const unit = units.get(key) ?? (await fundamentalUnit(path)) ?? raw.unit;
  if (units.size > 64) units.clear();
  units.set(key, unit);
  return { ...raw, unit };
}

/**
 * A FUSE filesystem may have a preferred transfer size (`f_bsize`) that is not the unit of its counts (`f_frsize`): sshfs to a
 * ZFS server says 128 KiB and 512 bytes. Node shows only the former; stat(1) shows both. Without stat(1) they count as equal.
 */
function fundamentalUnit(path: string): Promise<bigint | null> {
  return new Promise((resolve) => {
    execFile('stat', ['-f', '-c', '%S', path], { timeout: 5_000, killSignal: 'SIGKILL' }, (error, stdout) => {
      const text = stdout.trim();
      resolve(error === null && /^[1-9]\d*$/.test(text) ? BigInt(text) : null);
    });
  });
}

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const [id, path] = JSON.parse(line) as [number, string]; // written by foreign-looks.ts alone
  void look(path).then((answer) => {
    const text = JSON.stringify([id, answer], (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
    process.stdout.write(`${text}\n`);
  });
});
input.on('close', () => process.kill(process.pid, 'SIGKILL'));
process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'));
