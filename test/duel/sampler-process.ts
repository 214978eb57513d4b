import { statfsSync } from 'node:fs';
import { setPriority } from 'node:os';

// Looks at a disk from outside every 20 ms: `sampler-process.js DIRECTORY`. One line a look: milliseconds since the epoch, bytes
// available, inodes free. Ends when its standard input does.

const LOOK_EVERY_MS = 20;

const [, , directory] = process.argv;
if (directory === undefined) throw new Error('Cannot look at a disk as a directory on it must be named');
// Whoever measures must not be kept waiting by what is measured.
setPriority(-10);

const look = (): void => {
  const { bavail, bsize, ffree } = statfsSync(directory);
  process.stdout.write(`${(performance.timeOrigin + performance.now()).toFixed(1)} ${bavail * bsize} ${ffree}\n`);
};

const timer = setInterval(look, LOOK_EVERY_MS);
process.stdin.resume().once('end', () => clearInterval(timer));
