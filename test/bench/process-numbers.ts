import { readFileSync } from 'node:fs';

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
