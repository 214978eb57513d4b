import type * as systeminformation from 'systeminformation';
import type { Systeminformation } from 'systeminformation';
import { PortError } from '../../ports/port-error.js';
import { type Bytes, bytes, type Count, count, type Milliseconds, milliseconds } from '../../units/units.js';

/** One mounted filesystem. The numbers are those of df and serve to compare; decisions are made from statfs. */
export interface InventoryMount {
  readonly device: string;
  readonly type: string;
  readonly mountPoint: string;
  readonly capacity: Bytes;
  readonly available: Bytes;
}

/** One block device. */
export interface InventoryDevice {
  readonly name: string;
  /** `disk`, `part`, `lvm` and so on. */
  readonly type: string;
  readonly size: Bytes;
  readonly filesystem: string | null;
  readonly mountPoint: string | null;
}

/** What the host consists of, as told by its own tools. A part that could not be had is `null` and explained in `problems`. */
export interface HostInventory {
  /** Without memory filesystems such as tmpfs: df is asked for disks only. */
  readonly mounts: readonly InventoryMount[] | null;
  readonly devices: readonly InventoryDevice[] | null;
  /** `available` is the kernel's MemAvailable here, not the kubelet's capacity minus working set. */
  readonly memory: { readonly total: Bytes; readonly available: Bytes } | null;
  readonly processes: { readonly all: Count; readonly running: Count; readonly blocked: Count } | null;
  readonly problems: readonly string[];
}

/** The part of systeminformation that is used. */
export type SystemInformation = Pick<typeof systeminformation, 'fsSize' | 'blockDevices' | 'mem' | 'processes'>;

const TIMEOUT = milliseconds(5_000);

/**
 * Asks the host's own tools (df, lsblk, ps) what there is. For the line at the start of the log and for diagnosis only: it
 * forks, takes some ten milliseconds, and a dead network mount blocks df, which a timeout then cuts off. Never rejects.
 */
export async function hostInventory(
  timeout: Milliseconds = TIMEOUT,
  // Loaded on demand: 30 ms and 8 MiB that most starts need not wait for.
  load: () => Promise<SystemInformation> = async () => (await import('systeminformation')).default,
): Promise<HostInventory> {
  const problems: string[] = [];
  const part = async <T>(what: string, ask: (system: SystemInformation) => Promise<T>): Promise<T | null> => {
    try {
      return await within(timeout, load().then(ask));
    } catch (error) {
      problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };
  const [mounts, devices, memory, processes] = await Promise.all([
    part('mounts', async (system) => nonEmpty('mounts', await system.fsSize()).map(mountOf)),
    // A container without /sys/block has none: an empty list can be true here.
    part('devices', async (system) => (await system.blockDevices()).map(deviceOf)),
    part('memory', async (system) => memoryOf(await system.mem())),
    part('processes', async (system) => processesOf(await system.processes())),
  ]);
  return { mounts, devices, memory, processes, problems };
}

/** The library resolves an empty list when it could not fork, which happens just when the node runs out of processes. */
function nonEmpty<T>(what: string, list: readonly T[]): readonly T[] {
  if (list.length === 0) throw new PortError(`Cannot list ${what} as df must name at least one: none`);
  return list;
}

function mountOf(entry: Systeminformation.FsSizeData): InventoryMount {
  return {
    device: entry.fs,
    type: entry.type,
    mountPoint: entry.mount,
    capacity: bytes(entry.size),
    available: bytes(entry.available),
  };
}

function deviceOf(entry: Systeminformation.BlockDevicesData): InventoryDevice {
  return {
    name: entry.name,
    type: entry.type,
    size: bytes(Number(entry.size)), // a text of digits for some versions of lsblk
    filesystem: entry.fsType === '' ? null : entry.fsType,
    mountPoint: entry.mount === '' ? null : entry.mount,
  };
}

function memoryOf(memory: Systeminformation.MemData): HostInventory['memory'] {
  // Nothing read leaves zeros behind.
  if (!(memory.total > 0)) throw new PortError(`Cannot tell the memory as its total must be positive: ${memory.total}`);
  return { total: bytes(memory.total), available: bytes(memory.available) };
}

function processesOf(processes: Systeminformation.ProcessesData): HostInventory['processes'] {
  // At least the one that asks exists: zero means that ps could not be run.
  if (!(processes.all > 0))
    throw new PortError(`Cannot count processes as there must be at least one: ${processes.all}`);
  return { all: count(processes.all), running: count(processes.running), blocked: count(processes.blocked) };
}

async function within<T>(timeout: Milliseconds, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PortError(`Cannot wait longer than ${timeout} ms`)), timeout);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
