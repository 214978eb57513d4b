import { readdirSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.js';
import type { MemoryReading, NodeStatsPort, PidReading } from '../../ports/node-stats.js';
import { PortError } from '../../ports/port-error.js';
import { type Bytes, bytes, count } from '../../units/units.js';
import { loneNumber, type MemInfo, memoryStat, parseMemInfo, taskCount, workingSet } from './memory-text.js';

export interface HostNodeStatsOptions {
  readonly clock: Clock;
  /** Where procfs is, for a daemon in a container that sees the host's elsewhere. */
  readonly proc?: string;
  /** Where the cgroup hierarchies are. */
  readonly cgroup?: string;
}

/** Names of programs that are a kubelet or contain one (microk8s: kubelite; k3s and k0s run it within themselves). */
const KUBELETS: ReadonlySet<string> = new Set([
  'kubelet',
  'kubelite',
  'k3s',
  'k3s-server',
  'k3s-agent',
  'k0s',
  'hyperkube',
]);
/** The kernel's largest pid_max on 64 bit; nobody can have more processes. */
const MAX_PROCESSES = 4_194_304;
/** A slice of this many processes takes 1 to 2 ms of the event loop. */
const SLICE = 128;
/** The inode number of the root directory of every cgroup hierarchy. */
const ROOT_INODE = 1n;

/** The real `NodeStatsPort`, from procfs and the root memory cgroup. */
export function hostNodeStats(options: HostNodeStatsOptions): NodeStatsPort {
  const { clock, proc = '/proc', cgroup = '/sys/fs/cgroup' } = options;
  // procfs answers from memory in about 10 us: synchronous reads are ten times cheaper than a trip to the thread pool.
  const readProc = (name: string) => readFileSync(join(proc, name), 'utf8');

  const memory = async (): Promise<MemoryReading> => {
    const info = parseMemInfo(readProc('meminfo'));
    const used = await usedMemory(cgroup, info);
    // The kubelet's own difference; it counts active page cache as used.
    return { available: bytes(Math.max(0, info.total - used)), capacity: info.total, at: clock.now() };
  };

  const pids = async (): Promise<PidReading> => {
    const capacity = Math.min(
      loneNumber(readProc('sys/kernel/pid_max'), 'pid_max'),
      loneNumber(readProc('sys/kernel/threads-max'), 'threads-max'),
    );
    return { available: capacity - taskCount(readProc('loadavg')), capacity: count(capacity), at: clock.now() };
  };

  return {
    async read() {
      const problems: string[] = [];
      const orNull = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
        try {
          return await read();
        } catch (error) {
          problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
          return null;
        }
      };
      return { memory: await orNull('memory', memory), pids: await orNull('pids', pids), problems };
    },

    async kubeletRuns() {
      const names = listProcesses(proc);
      for (let index = 0; index < names.length; index += 1) {
        if (index % SLICE === SLICE - 1) await new Promise((resume) => setImmediate(resume));
        if (KUBELETS.has(commandOf(proc, names[index] ?? ''))) return true;
      }
      return false;
    },
  };
}

/**
 * The node's working set. In the order in which the sources are asked:
 * - cgroup v1: `memory.usage_in_bytes` - `total_inactive_file` of the root of the memory hierarchy;
 * - cgroup v2: `anon` + `file` - `inactive_file` of the root's `memory.stat`, since the root of v2 has no `memory.current`
 *   (the container runtimes' library that cAdvisor reads with does the same sum);
 * - neither root visible (a container with a cgroup namespace sees its own group as the root, which would make the node look
 *   idle) or the controller is off: the same page counters of the whole node from `/proc/meminfo`.
 */
async function usedMemory(cgroup: string, info: MemInfo): Promise<Bytes> {
  const v1 = join(cgroup, 'memory');
  if (await isHierarchyRoot(v1)) {
    // Not synchronous: the kernel may sum over thousands of groups to answer.
    const [usage, stats] = await Promise.all([
      readFile(join(v1, 'memory.usage_in_bytes'), 'utf8'),
      readFile(join(v1, 'memory.stat'), 'utf8'),
    ]);
    return workingSet(bytes(loneNumber(usage, 'memory.usage_in_bytes')), memoryStat(stats, 'total_inactive_file'));
  }
  if (await isHierarchyRoot(cgroup)) {
    const stats = await readFile(join(cgroup, 'memory.stat'), 'utf8').catch(nullWhenMissing);
    if (stats !== null) {
      const usage = memoryStat(stats, 'anon') + memoryStat(stats, 'file');
      return workingSet(bytes(usage), memoryStat(stats, 'inactive_file'));
    }
  }
  return workingSet(info.usage, info.inactiveFile);
}

async function isHierarchyRoot(directory: string): Promise<boolean> {
  const status = await stat(directory, { bigint: true }).catch(nullWhenMissing);
  return status?.ino === ROOT_INODE;
}

function nullWhenMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}

function listProcesses(proc: string): readonly string[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^\d+$/.test(name))
      .slice(0, MAX_PROCESSES);
  } catch (cause) {
    throw new PortError(`Cannot look for a kubelet as ${proc} must be readable`, { cause });
  }
}

function commandOf(proc: string, pid: string): string {
  try {
    return readFileSync(join(proc, pid, 'comm'), 'utf8').trimEnd();
  } catch {
    // Ended since it was listed.
    return '';
  }
}
