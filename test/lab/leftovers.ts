import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What marks a process, mount or loop device as ours. */
export interface Owned {
  readonly directory: string;
  /** Namespace links such as `pid:[4026532178]`. */
  readonly namespaces: readonly string[];
}

/** Processes in our namespaces, mounts below our directory, loop devices on our files; one line each. */
export function findLeftovers(owned: Owned): readonly string[] {
  return [
    ...processesIn(owned).map((pid) => `process ${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`),
    ...read('/proc/self/mountinfo')
      .split('\n')
      .filter((line) => line.includes(` ${owned.directory}/`))
      .map((line) => `mount ${line}`),
    ...readdirSync('/sys/block')
      .filter((name) => name.startsWith('loop'))
      .map((name) => `${name} on ${read(`/sys/block/${name}/loop/backing_file`).trim()}`)
      .filter((line) => line.includes(` ${owned.directory}/`)),
  ];
}

/** The leftovers as one text. */
export function describeLeftovers(owned: Owned): string {
  return findLeftovers(owned).join('; ');
}

/** Numbers (as seen outside) of the processes that live in one of the namespaces or name our directory when started. */
function processesIn(owned: Owned): readonly number[] {
  return allProcesses().filter(
    (pid) =>
      ['pid', 'mnt'].some((kind) => owned.namespaces.includes(link(`/proc/${pid}/ns/${kind}`))) ||
      read(`/proc/${pid}/cmdline`).includes(`${owned.directory}/`),
  );
}

/** Those, and what they have started in namespaces of its own, as containers are. */
export function processesBelow(owned: Owned): readonly number[] {
  const parents = new Map(allProcesses().map((pid) => [pid, parentOf(pid)]));
  const roots = new Set(processesIn(owned));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (roots.has(pid) || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow);
}

function allProcesses(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

// The name, in brackets, may hold spaces and brackets itself; after it come the state and the parent.
function parentOf(pid: number): number | undefined {
  const parent = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1];
  return parent === undefined || parent === '0' ? undefined : Number(parent);
}

// Processes and devices may go while we look: what is gone is not left over.
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
