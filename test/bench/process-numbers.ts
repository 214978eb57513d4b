import { readdirSync, readFileSync } from 'node:fs';

/** Of the kernel's clock ticks in /proc: 100 a second on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** CPU time of a process so far, in milliseconds: of itself, and of those children that it has waited for. */
export interface CpuTime {
  readonly self: number;
  readonly children: number;
}

/** From /proc/PID/stat, in steps of 10 ms. Throws when the process is gone. */
export function cpuTime(pid: number | 'self'): CpuTime {
  return parseCpuTime(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** Reads the text of a stat file. The program's name may hold spaces and brackets, so counting begins after its end. */
export function parseCpuTime(stat: string): CpuTime {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime and cstime are fields 14 to 17 of proc(5); the slice begins with field 3.
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
  if (user === undefined || system === undefined || childUser === undefined || childSystem === undefined) {
    throw new Error(`Cannot read a stat file as it must have 17 fields: ${stat}`);
  }
  return { self: (user + system) * MS_PER_TICK, children: (childUser + childSystem) * MS_PER_TICK };
}

/**
 * Milliseconds that the scheduler gave to all threads of a process and of its living children, to the nanosecond: what an
 * idle process takes is lost in ticks. Threads that have ended are not counted, so a difference is taken over a time in
 * which none does. Throws when the process is gone.
 */
export function scheduledTime(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const task = `/proc/${pid}/task/${thread}`;
    const children = readFileSync(`${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    return (
      sum +
      parseScheduled(readFileSync(`${task}/schedstat`, 'utf8')) +
      children.reduce((below, child) => below + scheduledTime(child), 0)
    );
  }, 0);
}

/** Reads the text of a schedstat file: nanoseconds on a processor, nanoseconds of waiting for one, turns. */
export function parseScheduled(schedstat: string): number {
  const nanoseconds = /^(\d+) \d+ \d+$/.exec(schedstat.trim())?.[1];
  if (nanoseconds === undefined)
    throw new Error(`Cannot read a schedstat file as it must have three numbers: ${schedstat}`);
  return Number(nanoseconds) / 1e6;
}

/** Milliseconds in which a thread could have run and waited for a processor, from the text of its schedstat file. */
export function parseWaited(schedstat: string): number {
  const nanoseconds = /^\d+ (\d+) \d+$/.exec(schedstat.trim())?.[1];
  if (nanoseconds === undefined)
    throw new Error(`Cannot read a schedstat file as it must have three numbers: ${schedstat}`);
  return Number(nanoseconds) / 1e6;
}

/** Memory of a process in MiB: what it holds now, and the most that it ever held. */
export interface Memory {
  readonly resident: number;
  readonly peak: number;
}

/** From /proc/PID/status. Throws when the process is gone. */
export function memory(pid: number | 'self'): Memory {
  return parseMemory(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

/** Reads the text of a status file. */
export function parseMemory(status: string): Memory {
  const mebibytes = (name: string): number => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
    if (found === null) throw new Error(`Cannot read a status file as it must have ${name}: ${status.slice(0, 80)}`);
    return Number(found[1]) / 1024;
  };
  return { resident: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}
