import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { cgroupsOf, removeCgroups } from './cgroups.js';
import { describeLeftovers, findLeftovers, processesBelow } from './leftovers.js';
import { waitFor } from './wait.js';

/** A process inside the namespace. `pid` is its number outside, where the tests live. */
export interface NamespacedProcess {
  readonly pid: number;
  /** The nsenter process that waits for it: its output, and its end with the same code or signal. */
  readonly child: ChildProcess;
  /** Resolves when it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * A private mount and pid namespace. Its first process ends when our end of its standard input closes, by `close()` or by
 * the death of the test process; the kernel then kills everything inside and drops every mount and loop device.
 */
export interface Namespace {
  /** The same file as seen from outside: mounts of the namespace are visible only through its first process. */
  outside(path: string): string;
  spawn(command: string, args: readonly string[], options?: SpawnOptions): Promise<NamespacedProcess>;
  /** Runs to the end and returns standard output; throws with standard error when it fails. */
  run(command: string, args: readonly string[]): Promise<string>;
  /** Ends all of it and throws when a process, mount or loop device outlives it. */
  close(): Promise<void>;
}

// Runtime state of runc and the shims' sockets are hard-wired to /run/containerd. The shell waits for cat, that is for
// the end of its input, and on the way reaps the orphans that the first process of a pid namespace inherits.
const FIRST_PROCESS = `
set -e
mount -t tmpfs -o size=64m reclaimd-test /run/containerd
exec 3<&0
echo ready
cat <&3 >/dev/null & wait $!
`;

/** Opens a namespace; `directory` is where the caller will mount and keep its files. Needs root. */
export async function openNamespace(directory: string): Promise<Namespace> {
  mkdirSync('/run/containerd', { recursive: true });
  const unshare = spawn(
    'unshare',
    // biome-ignore format: one option a line would hide the command
    ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc', '--', 'sh', '-c', FIRST_PROCESS],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const complaints = collect(unshare);
  const ended = once(unshare, 'exit');
  const isReady = await Promise.race([once(unshare.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!isReady) throw new Error(`Cannot open a namespace: ${complaints()}`);
  const first = childrenOf(unshare.pid)[0];
  if (first === undefined) throw new Error(`Cannot find the first process of the namespace below ${unshare.pid}`);
  const enter = ['--target', String(first), '--mount', '--pid', '--'];
  let closing: Promise<void> | undefined;

  const close = async (): Promise<void> => {
    const processes = processesBelow(first);
    const cgroups = cgroupsOf(processes);
    const owned = { directory, processes };
    unshare.stdin.end();
    await ended;
    await waitFor(
      'the namespace leave nothing behind',
      10_000,
      () => findLeftovers(owned).length === 0 || undefined,
      () => describeLeftovers(owned),
    );
    await waitFor('the control groups be empty', 10_000, () => removeCgroups(cgroups).length === 0 || undefined);
  };

  return {
    outside: (path) => `/proc/${first}/root${path}`,
    spawn: async (command, args, options = {}) =>
      startedProcess(spawn('nsenter', [...enter, command, ...args], options)),
    run: async (command, args) => {
      const child = spawn('nsenter', [...enter, command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
      const output = collect(child, 'stdout');
      const errors = collect(child);
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(`Cannot run ${[command, ...args].join(' ')}: ended with ${code}: ${errors()}`);
      return output();
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function startedProcess(child: ChildProcess): Promise<NamespacedProcess> {
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', reject);
  });
  // nsenter forks to enter the pid namespace: the program is its only child.
  const pid = await waitFor('nsenter start its program', 5_000, () => {
    if (child.exitCode !== null)
      throw new Error(`Cannot start a program in the namespace: ended with ${child.exitCode}`);
    return childrenOf(child.pid)[0];
  });
  return {
    pid,
    child,
    ended,
    kill: (signal) => {
      // After the end the number may belong to somebody else.
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, signal);
    },
  };
}

function childrenOf(pid: number | undefined): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function collect(child: ChildProcess, stream: 'stdout' | 'stderr' = 'stderr'): () => string {
  const chunks: Buffer[] = [];
  child[stream]?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
