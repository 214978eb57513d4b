/** Pure readers of the kernel's texts about memory and tasks. Each throws an Error that says what is wrong with the text. */
import { type Bytes, bytes, type Count, count } from '../../units/units.js';

/** `/proc/meminfo`, all values in bytes. */
export interface MemInfo {
  readonly total: Bytes;
  readonly inactiveFile: Bytes;
  /** Mapped anonymous pages plus all pages of files: what cgroups call usage, without the kernel's own memory. */
  readonly usage: Bytes;
}

/** Parses `/proc/meminfo`. */
export function parseMemInfo(text: string): MemInfo {
  const field = (name: string) => {
    const kibibytes = new RegExp(`^${name.replace(/[()]/g, '\\$&')}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
    if (kibibytes === undefined) throw new Error(`Cannot read /proc/meminfo as it must have a line for ${name} in kB`);
    return Number(kibibytes) * 1024;
  };
  const total = field('MemTotal');
  if (total === 0) throw new Error('Cannot read /proc/meminfo as MemTotal must be positive: 0');
  // Cached leaves out buffers and swap cache, which the kernel counts among the pages of files.
  const usage = field('AnonPages') + field('Cached') + field('Buffers') + field('SwapCached');
  return { total: bytes(total), inactiveFile: bytes(field('Inactive(file)')), usage: bytes(usage) };
}

/** One value of a cgroup's `memory.stat` in bytes. */
export function memoryStat(text: string, name: string): Bytes {
  const value = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`Cannot read memory.stat as it must have a line for ${name}`);
  return bytes(Number(value));
}

/** A file that holds one number, such as `memory.usage_in_bytes` or `pid_max`. */
export function loneNumber(text: string, file: string): number {
  const number = text.trim();
  if (!/^\d{1,15}$/.test(number)) throw new Error(`Cannot read ${file} as it must hold one number: ${quote(number)}`);
  return Number(number);
}

/** What stands for no limit in version 1: the largest multiple of a page in a signed number; nobody has as much as half of it. */
const NO_LIMIT_FROM = 2 ** 62;

/** The limit in a file such as `memory.max`; null = none (`max`, or in version 1 a number beyond everything). */
export function memoryLimit(text: string, file: string): Bytes | null {
  const limit = text.trim();
  if (limit === 'max') return null;
  if (/^\d{16,20}$/.test(limit) && Number(limit) >= NO_LIMIT_FROM) return null;
  return bytes(loneNumber(text, file));
}

/** The tasks of the node: the second half of the fourth field of `/proc/loadavg` (threads count, not processes). */
export function taskCount(text: string): Count {
  const tasks = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(text)?.[1];
  if (tasks === undefined)
    throw new Error(`Cannot read /proc/loadavg as its fourth field must be running/all: ${quote(text)}`);
  return count(Number(tasks));
}

/** Usage without the file pages that nobody touched lately; never negative, since the two numbers are read one after the other. */
export function workingSet(usage: Bytes, inactiveFile: Bytes): Bytes {
  return bytes(Math.max(0, usage - inactiveFile));
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
