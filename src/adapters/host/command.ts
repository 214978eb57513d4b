import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../ports/clock.js';
import type { CommandPort } from '../../ports/command.js';
import { PortError } from '../../ports/port-error.js';
import { type Milliseconds, milliseconds } from '../../units/units.js';

/** A program that tells others of a collection takes a moment; one that hangs must not keep the next one from being told. */
const ENDS_WITHIN = milliseconds(30_000);
/** Of what a failing program complains about, so much is kept. */
const MOST_SAID = 1_000;
/** What a service manager gives its services; what else is in our environment is none of a program's business. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The real `CommandPort`: no shell, no inherited environment, its own process group. */
export function hostCommands(options: { readonly clock: Clock; readonly endsWithin?: Milliseconds }): CommandPort {
  const { clock, endsWithin = ENDS_WITHIN } = options;
  return {
    async run(words, input, signal) {
      const [program, ...args] = words;
      if (program === undefined) throw new PortError('Cannot run a program as it must be named: nothing');
      if (signal.aborted) throw new PortError(`Cannot run a program as this is being ended: ${program}`);
      const child = spawn(program, args, {
        cwd: '/',
        env: { PATH },
        detached: true,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      const over = new AbortController();
      const late = clock.sleep(endsWithin, over.signal).then(() => `it must end within ${endsWithin} ms`);
      const ended = endOf(child, program, input);
      const aborted = new Promise<string>((resolve) => {
        signal.addEventListener('abort', () => resolve('this is being ended'), { once: true, signal: over.signal });
      });
      try {
        const rule = await Promise.race([ended, late, aborted]);
        if (rule === null) return;
        endGroup(child);
        throw new PortError(`Cannot wait for a program as ${rule}: ${program}`);
      } finally {
        over.abort();
      }
    },
  };
}

/** Null when it ended well; rejects when it did not, or never began. */
function endOf(child: ChildProcess, program: string, input: string): Promise<null> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < MOST_SAID) said += text;
    });
    // One that does not read its input and ends is fine; its exit code tells.
    child.stdin?.on('error', () => undefined).end(input);
    child.on('error', (cause) => {
      reject(new PortError(`Cannot run a program as it must be there and executable: ${program}`, { cause }));
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(null);
      const how = killedBy === null ? `exit code ${code}` : killedBy;
      const why = said.trim() === '' ? '' : `: ${said.trim().slice(0, MOST_SAID)}`;
      reject(new PortError(`Cannot go by a program as it must end with 0: ${program} ended with ${how}${why}`));
    });
  });
}

/** It and what it has started. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
