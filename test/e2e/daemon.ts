import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LabContainerd } from '../lab/containerd.js';

/** One line of the daemon's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** What the daemon is configured with, beside where things lie. */
export interface DaemonSpec {
  /** By signal, such as `{ 'nodefs.available': '40Mi' }`; no other threshold holds. */
  readonly evictionHard: Readonly<Record<string, string>>;
  /** More keys of the configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly flags?: readonly string[];
}

/** How a daemon ended. */
export interface DaemonEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly tookMs: number;
}

/** The real daemon process beside a real runtime. */
export interface DaemonUnderTest {
  /** Everything logged so far. */
  readonly lines: readonly LogLine[];
  /** Lines of these kinds of event, in order. */
  events(...kinds: readonly string[]): readonly LogLine[];
  /** The first line, past or to come, that satisfies the question. Throws at the deadline, with the end of the log. */
  line(what: string, isIt: (line: LogLine) => boolean, deadlineMs?: number): Promise<LogLine>;
  /** The first event of the kind, past or to come. */
  event(kind: string, deadlineMs?: number): Promise<LogLine>;
  /** SIGTERM, and the time until the process has ended. */
  terminate(): Promise<DaemonEnd>;
  /** Resolves when it ends by itself. */
  readonly ended: Promise<Omit<DaemonEnd, 'tookMs'>>;
  /** The whole output as text. */
  output(): string;
}

/** Where its output is kept as well, so that a failed test can show it. */
export function daemonLog(lab: LabContainerd): string {
  return join(lab.paths.work, 'reclaimd.log');
}

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

/** Starts the daemon in the runtime's namespace, with the lab's disk as nodefs and imagefs alike. */
export async function startDaemon(lab: LabContainerd, spec: DaemonSpec): Promise<DaemonUnderTest> {
  const file = join(lab.paths.work, 'reclaimd.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ ...settingsOf(lab), evictionHard: spec.evictionHard, ...spec.settings }));
  // The coverage of the tests' own process would be mixed with that of a process on a full disk.
  const { NODE_V8_COVERAGE: _, ...env } = process.env;
  const args = [MAIN, 'run', '--config', file, ...(spec.flags ?? [])];
  const daemon = await lab.spawnInNamespace(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env });

  const text: string[] = [];
  const lines: LogLine[] = [];
  const waiting = new Set<(line: LogLine) => void>();
  const hear = (source: 'stdout' | 'stderr'): void => {
    const stream = daemon.child[source];
    if (stream === null) throw new Error(`Cannot read the daemon's output as it has none: ${source}`);
    createInterface({ input: stream }).on('line', (line) => {
      text.push(line);
      appendFileSync(daemonLog(lab), `${line}\n`);
      const record = parse(line);
      if (record === undefined) return;
      lines.push(record);
      for (const tell of waiting) tell(record);
    });
  };
  hear('stdout');
  hear('stderr');

  // Not the process's exit: its last lines may still be on their way then.
  const ended = once(daemon.child, 'close').then((end: unknown[]) => {
    const [code, signal] = end as [number | null, NodeJS.Signals | null];
    return { code, signal };
  });

  const line: DaemonUnderTest['line'] = (what, isIt, deadlineMs = 60_000) => {
    const past = lines.find(isIt);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        waiting.delete(tell);
        clearTimeout(timer);
        reject(new Error(`Cannot see ${what} in the daemon's log: ${why}\n${text.slice(-40).join('\n')}`));
      };
      const tell = (record: LogLine): void => {
        if (!isIt(record)) return;
        waiting.delete(tell);
        clearTimeout(timer);
        resolve(record);
      };
      const timer = setTimeout(() => fail(`${deadlineMs} ms have passed`), deadlineMs);
      waiting.add(tell);
      void ended.then(({ code, signal }) => {
        if (waiting.has(tell)) fail(`it has ended with ${signal ?? code}`);
      });
    });
  };

  return {
    lines,
    events: (...kinds) => lines.filter(({ event }) => typeof event === 'string' && kinds.includes(event)),
    line,
    event: (kind, deadlineMs) => line(`the event ${kind}`, ({ event }) => event === kind, deadlineMs),
    ended,
    terminate: async () => {
      const begin = performance.now();
      daemon.kill('SIGTERM');
      const end = await ended;
      return { ...end, tookMs: performance.now() - begin };
    },
    output: () => text.join('\n'),
  };
}

/** What every command under test is configured with. */
export function settingsOf(lab: LabContainerd): Record<string, unknown> {
  return {
    stateFile: join(lab.paths.work, 'state', 'state.db'),
    containerRuntimeEndpoint: lab.endpoint,
    rootDir: lab.paths.kubeletRoot,
    podLogsDir: lab.paths.podLogs,
    sandboxImage: lab.sandboxImage,
    mergeDefaultEvictionSettings: false,
    // Only what pressure makes it do is looked at here, not the periodic passes.
    periodicCollection: { containers: 'never', images: 'never', logRotation: 'never' },
    log: { format: 'json', level: 'debug' },
  };
}

function parse(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    // A stack trace or a warning of Node: kept in the text.
    return undefined;
  }
}
