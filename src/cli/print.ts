import { EXIT } from './exit-code.js';

/**
 * Writes to standard output. A reader that has seen enough (`| head`) ends that quietly; what else fails is said and makes the
 * exit code 1. Not for the daemon: its log has a destination of its own.
 */
export function print(text: string): void {
  const { stdout } = process;
  if (stdout.listenerCount('error') === 0) stdout.on('error', failed);
  stdout.write(text);
}

function failed(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`error: Cannot print as standard output must be writable: ${error.message}\n`);
  // Over whatever code the command answers with.
  process.once('exit', () => {
    process.exitCode = EXIT.failed;
  });
}
