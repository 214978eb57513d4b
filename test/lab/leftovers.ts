import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process, told from a later one of the same number by when it started. */
export interface KnownProcess {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly started: string;
}

/** What belongs to one runtime under test: things on its directory, and these processes. */
export interface Owned {
  readonly directory: string;
  readonly processes: readonly KnownProcess[];
}

/** Processes of ours that still live, mounts below our directory, loop devices on our files; one line each. */
export function findLeftovers({ directory, processes }: Owned): readonly string[] {
  const known = processes.filter(({ pid, started }) => statOf(pid)?.started === started).map(({ pid }) => pid);
  const named = allProcesses().filter((pid) => commandOf(pid).includes(`${directory}/`));
  return [
    ...new Set([...known, ...named].map((pid) => `process ${pid}: ${commandOf(pid)}`)),
    ...read('/proc/self/mountinfo')
      .split('\n')
      .filter((line) => line.includes(` ${directory}/`))
      .map((line) => `mount ${line}`),
    ...readdirSync('/sys/block')
      .filter((name) => name.startsWith('loop'))
      .map((name) => `${name} on ${read(`/sys/block/${name}/loop/backing_file`).trim()}`)
      .filter((line) => line.includes(` ${directory}/`)),
  ];
}

/** The leftovers as one text. */
export function describeLeftovers(owned: Owned): string {
  return findLeftovers(owned).join('; ');
}

/**
 * The processes in the pid namespace of a living process, and what they have started in namespaces of its own, as
 * containers are. Afterwards they must be known by number and start: the kernel gives the numbers of namespaces away again.
 */
export function processesBelow(first: number): readonly KnownProcess[] {
  const namespace = namespaceOf(first);
  const parents = new Map(allProcesses().map((pid) => [pid, statOf(pid)?.parent]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (namespaceOf(pid) === namespace || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow).flatMap((pid) => {
    const stat = statOf(pid);
    return stat === undefined ? [] : [{ pid, started: stat.started }];
  });
}

function allProcesses(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

// The name, in brackets, may hold spaces and brackets itself; after it come the state, the parent, and as the 20th the start.
function statOf(pid: number): { readonly parent: number; readonly started: string } | undefined {
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const [, parent] = fields;
  const started = fields[19];
  return parent === undefined || started === undefined ? undefined : { parent: Number(parent), started };
}

// Processes and devices may go while we look: what is gone is not left over.
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A text of its own for a process that is gone: it is in nobody's namespace. */
function namespaceOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return `process ${pid} is gone`;
  }
}
