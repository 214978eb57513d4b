import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ids of containers, which every runtime that speaks CRI makes of 64 hexadecimal digits. */
const CONTAINER_ID = /[0-9a-f]{64}/g;

/** A process that belongs to containers. */
export interface ContainerProcess {
  readonly pid: string;
  /** Containers that its control group names: one, or also those around it where containers run in containers. */
  readonly containers: readonly string[];
  /** The path of its control group in the unified hierarchy; null = there is none. */
  readonly cgroup: string | null;
}

/**
 * The processes of all containers, by what their control groups are called. A runtime's own helper (CRI-O's `conmon`) has a
 * group that names the container too: what it writes are the container's logs.
 *
 * Synchronous, for a worker thread: procfs answers from memory.
 */
export function* containerProcesses(proc: string, isStopped: () => boolean): Generator<ContainerProcess> {
  for (const pid of readdirSync(proc)) {
    if (isStopped()) return;
    if (!/^\d+$/.test(pid)) continue;
    const text = readProc(join(proc, pid, 'cgroup'));
    const containers = new Set(text?.match(CONTAINER_ID));
    if (text === null || containers.size === 0) continue;
    const unified = text.split('\n').find((line) => line.startsWith('0::'));
    yield { pid, containers: [...containers], cgroup: unified?.slice(3) ?? null };
  }
}

/** What procfs or cgroupfs says; null when whoever it is about has ended, or when it may not be read. */
export function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
