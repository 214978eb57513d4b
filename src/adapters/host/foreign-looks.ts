import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RawLook } from './raw-look.js';

/** Looks at paths from a child process, so that one that never answers holds nothing of ours. */
export interface ForeignLooks {
  /** Never rejects. Stays pending for as long as the filesystem does not answer. */
  ask(path: string): Promise<RawLook>;
  /** The child that would take the next question, for measurements. */
  readonly pid: number | undefined;
  /** Kills the child and does not wait for it: it may be beyond the reach of signals. */
  close(): void;
}

/** Each unanswered look keeps one thread of the child. */
const THREADS = 16;
/** Beyond this many unanswered looks the child is replaced; the kernel lets go of most waits when the process is killed. */
const MAX_UNANSWERED = 12;
/** Children that were killed and still have not ended hang in the kernel. No more than these. */
const MAX_CHILDREN = 3;
/** A child that dies at once must not be started in a tight loop. */
const RESTART_AFTER_MS = 1_000;

interface Helper {
  readonly process: ChildProcess;
  readonly pending: Map<number, (answer: RawLook) => void>;
}

/** Starts nothing until the first question. */
export function foreignLooks(): ForeignLooks {
  const alive = new Set<ChildProcess>();
  let helper: Helper | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;
  let nextId = 0;
  let closed = false;

  const end = (old: Helper, reason: string) => {
    if (helper === old) helper = null;
    killGroup(old.process);
    for (const answer of old.pending.values()) answer(unable(reason));
    old.pending.clear();
  };

  const start = (): Helper | string => {
    if (alive.size >= MAX_CHILDREN) return `${alive.size} helper processes hang in the kernel`;
    if (performance.now() - startedAt < RESTART_AFTER_MS) return 'the helper process ended just now';
    startedAt = performance.now();
    const child = spawn(
      process.execPath,
      // Small heaps: it holds a few lines of text.
      [
        '--max-semi-space-size=1',
        '--max-old-space-size=32',
        fileURLToPath(new URL('./foreign-helper.js', import.meta.url)),
      ],
      {
        cwd: '/',
        // A session of its own, so that it and what it started can be killed together.
        detached: true,
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', UV_THREADPOOL_SIZE: String(THREADS) },
      },
    );
    const started: Helper = { process: child, pending: new Map() };
    alive.add(child);
    // A failed start has no exit event.
    child.on('error', (error) => {
      alive.delete(child);
      end(started, `its helper process cannot run: ${error.message}`);
    });
    child.on('exit', (code, signal) => {
      alive.delete(child);
      end(started, `its helper process ended (${signal ?? code ?? 'unknown'})`);
    });
    child.stdin?.on('error', () => end(started, 'its helper process takes no questions'));
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [id, answer] = JSON.parse(line, revive) as [number, RawLook]; // written by foreign-helper.ts alone
        const resolve = started.pending.get(id);
        started.pending.delete(id);
        resolve?.(answer);
      });
    }
    // Neither the child nor its pipes may keep the daemon from ending.
    child.unref();
    for (const pipe of [child.stdin, child.stdout]) (pipe as Socket | null)?.unref(); // pipes of a child are sockets
    return started;
  };

  return {
    ask(path) {
      if (closed) return Promise.resolve(unable('it was closed'));
      if (helper !== null && helper.pending.size >= MAX_UNANSWERED) end(helper, 'too many looks are unanswered');
      const target = helper ?? start();
      if (typeof target === 'string') return Promise.resolve(unable(target));
      helper = target;
      const id = nextId++;
      return new Promise((resolve) => {
        target.pending.set(id, resolve);
        target.process.stdin?.write(`${JSON.stringify([id, path])}\n`);
      });
    },
    get pid() {
      return helper?.process.pid;
    },
    close() {
      closed = true;
      if (helper !== null) end(helper, 'it was closed');
    },
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Gone already: that is what was wanted.
  }
}

function unable(reason: string): RawLook {
  return { kind: 'failure', code: 'HELPER', message: `Cannot look at a foreign mount as ${reason}` };
}

function revive(_: string, value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
}
