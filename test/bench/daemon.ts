import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPTS = fileURLToPath(new URL('../../../scripts', import.meta.url));

/** The program and arguments that a service manager starts the daemon with; the configuration file follows. */
export const DAEMON_COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  '--max-semi-space-size=1',
  join(SCRIPTS, 'reclaimd.cjs'),
  'run',
  '--config',
];

/** What that program runs: the bundle, or the compiled modules one by one when they are newer. */
export function programForm(): string {
  const loader = createRequire(import.meta.url)(join(SCRIPTS, 'load-bundle.cjs')) as { isBundled(): boolean }; // what it exports
  return loader.isBundled() ? 'the bundle of dist/' : 'the modules of build/, which are newer than dist/';
}

/** A log line, and when it arrived (nanoseconds of the system's steady clock, which is one for all processes). */
export interface TimedLine {
  readonly event: string;
  readonly at: bigint;
}

/** The real daemon in a process of its own. */
export interface BenchDaemon {
  readonly pid: number;
  /** Just before the process was started. */
  readonly startedAt: bigint;
  /** The next line about that event that has not been asked for yet. Rejects at the deadline, with the end of the log. */
  next(event: string, deadlineMs?: number): Promise<TimedLine>;
  /** Forgets the lines so far. */
  forget(): void;
  /** Ends it and waits. Throws when it does not end well. */
  stop(): Promise<void>;
}

/** Writes the configuration into the directory; JSON is YAML. Returns the path of the file. */
export function writeSettings(directory: string, settings: Readonly<Record<string, unknown>>): string {
  const file = join(directory, 'reclaimd.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      stateFile: join(directory, 'state', 'state.db'),
      ...settings,
      log: { format: 'json', level: 'info' },
    }),
  );
  return file;
}

/** Starts the daemon with that configuration file. */
export async function startDaemon(settingsFile: string): Promise<BenchDaemon> {
  const [program, ...args] = DAEMON_COMMAND;
  const startedAt = process.hrtime.bigint();
  const child = spawn(program, [...args, settingsFile], { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = new EventLines(child);
  await once(child, 'spawn');
  if (child.pid === undefined) throw new Error('Cannot start the daemon as it must have a process id: none');
  return {
    pid: child.pid,
    startedAt,
    next: (event, deadlineMs = 30_000) => log.next(event, deadlineMs),
    forget: () => log.forget(),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      if (child.exitCode !== 0) throw new Error(`Cannot end the daemon well: ${child.exitCode}: ${log.text()}`);
    },
  };
}

/** The lines of a child's log about events, as they come. */
class EventLines {
  readonly #text: string[] = [];
  readonly #waiting = new Set<{ readonly event: string; readonly tell: (line: TimedLine) => void }>();
  #lines: TimedLine[] = [];

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => this.#hear(line, process.hrtime.bigint()));
    }
  }

  next(event: string, deadlineMs: number): Promise<TimedLine> {
    const known = this.#lines.find((line) => line.event === event);
    if (known !== undefined) {
      this.#lines = this.#lines.filter((line) => line !== known);
      return Promise.resolve(known);
    }
    return new Promise((resolve, reject) => {
      const waiter = {
        event,
        tell: (line: TimedLine) => {
          clearTimeout(timer);
          this.#waiting.delete(waiter);
          resolve(line);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(new Error(`Cannot see ${event} in the daemon's log within ${deadlineMs} ms: ${this.text()}`));
      }, deadlineMs);
      this.#waiting.add(waiter);
    });
  }

  forget(): void {
    this.#lines = [];
  }

  text(): string {
    return this.#text.slice(-20).join('\n');
  }

  #hear(text: string, at: bigint): void {
    this.#text.push(text);
    if (this.#text.length > 200) this.#text.shift();
    const event = eventOf(text);
    if (event === null) return;
    for (const waiter of this.#waiting) {
      if (waiter.event !== event) continue;
      waiter.tell({ event, at });
      return;
    }
    this.#lines.push({ event, at });
  }
}

function eventOf(text: string): string | null {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null && 'event' in line ? String(line.event) : null;
  } catch {
    // A warning of Node, or a stack: kept in the text.
    return null;
  }
}
