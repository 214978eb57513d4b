import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** One look at a disk from outside. */
export interface Sample {
  /** Milliseconds since the epoch, as log lines have them. */
  readonly at: number;
  /** Bytes available to an ordinary user, or inodes free. */
  readonly available: number;
}

/** A process of its own that looks at a disk all the time. */
export interface Sampler {
  /** All looks so far. */
  readonly samples: readonly Sample[];
  /** Ends it and waits for its last look. */
  stop(): Promise<void>;
}

const PROCESS = fileURLToPath(new URL('./sampler-process.js', import.meta.url));

/** Starts looking at the disk that the directory lies on; resolves when the first look was taken. */
export async function startSampler(directory: string, resource: 'bytes' | 'inodes'): Promise<Sampler> {
  const child = spawn(process.execPath, [PROCESS, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  const samples: Sample[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const [at, bytes, inodes] = line.split(' ').map(Number);
    const available = resource === 'bytes' ? bytes : inodes;
    if (at !== undefined && available !== undefined) samples.push({ at, available });
  });
  const ended = once(child, 'close');
  const isLooking = await Promise.race([once(lines, 'line').then(() => true), ended.then(() => false)]);
  if (!isLooking) throw new Error(`Cannot look at the disk as the sampler ended: ${directory}`);
  return {
    samples,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
