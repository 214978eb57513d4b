import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.js';
import type { MemoryReading, NodeStatsPort, PidReading, PodsMemory } from '../../ports/node-stats.js';
import { PortError } from '../../ports/port-error.js';
import { type Bytes, bytes, count } from '../../units/units.js';
import { cgroupMemory, cgroupUsage, nodeMemory, nodeUsage, type UsedMemory } from './cgroup-memory.js';
import { loneNumber, parseMemInfo, taskCount } from './memory-text.js';

export interface HostNodeStatsOptions {
  readonly clock: Clock;
  /** Where procfs is, for a daemon in a container that sees the host's elsewhere. */
  readonly proc?: string;
  /** Where the cgroup hierarchies are. */
  readonly cgroup?: string;
  /** The cgroup of all pods below the root of a hierarchy: the first of these that exists. None = nobody asks for it. */
  readonly podsCgroups?: readonly string[];
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

/** The real `NodeStatsPort`, from procfs and the memory cgroups. */
export function hostNodeStats(options: HostNodeStatsOptions): NodeStatsPort {
  const { clock, proc = '/proc', cgroup = '/sys/fs/cgroup', podsCgroups = [] } = options;
  // procfs answers from memory in about 10 us: synchronous reads are ten times cheaper than a trip to the thread pool.
  const readProc = (name: string) => readFileSync(join(proc, name), 'utf8');

  const memInfo = () => parseMemInfo(readProc('meminfo'));

  const memory = async (): Promise<MemoryReading> => {
    const info = memInfo();
    return readingOf(info.total, await nodeMemory(cgroup, () => info), clock);
  };

  const podsMemory = async (): Promise<PodsMemory> => {
    if (podsCgroups.length === 0) return { kind: 'absent', why: 'nobody asks for it' };
    const where = podsCgroups.join(' or ');
    try {
      const found = await cgroupMemory(cgroup, podsCgroups);
      if (found === null) return { kind: 'absent', why: `there is no cgroup ${where} below ${cgroup}` };
      if (found.limit === null) return { kind: 'absent', why: `the cgroup ${where} has no memory limit` };
      return { kind: 'reading', reading: readingOf(found.limit, found, clock) };
    } catch (error) {
      return { kind: 'failed', why: `the cgroup ${where}: ${error instanceof Error ? error.message : String(error)}` };
    }
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
      const [node, pods] = await Promise.all([orNull('memory', memory), podsMemory()]);
      return { memory: node, podsMemory: pods, pids: await orNull('pids', pids), problems };
    },

    memoryUsage: (scope) => (scope === 'node' ? nodeUsage(cgroup, memInfo) : cgroupUsage(cgroup, podsCgroups)),

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

/** The kubelet's own difference; it counts active page cache as used. */
function readingOf(capacity: Bytes, { usage, workingSet }: UsedMemory, clock: Clock): MemoryReading {
  return { available: bytes(Math.max(0, capacity - workingSet)), capacity, workingSet, usage, at: clock.now() };
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
