import type { Instant, Milliseconds } from '../units/units.js';

/** Megabytes that are held back per filesystem (`--low-diskspace-threshold-mb`). */
export interface DiskReserve {
  /** Where images and writable layers lie. */
  readonly runtimeFreeMegabytes: number;
  readonly rootFreeMegabytes: number;
}

/** Statistics of one filesystem. `available` is a plain number: a broken source may say a negative one. */
export interface SpaceStatistics {
  readonly capacity: number;
  readonly available: number;
}

/** Whether there is room. `doubt` says why nobody can tell; then there is taken to be room. */
export type RoomAnswer =
  | { readonly kind: 'room' }
  | { readonly kind: 'no-room'; readonly available: number; readonly reserve: number }
  | {
      readonly kind: 'doubt';
      readonly why: 'statistics-failed' | 'capacity-unknown' | 'available-negative';
      readonly message: string;
    };

const MEGABYTE = 1024 * 1024;

/** Why a reserve is refused; null = it is fine. */
export function reserveFault({ runtimeFreeMegabytes, rootFreeMegabytes }: DiskReserve): string | null {
  const worst = Math.min(runtimeFreeMegabytes, rootFreeMegabytes);
  return worst < 0 ? `Cannot hold space back as the reserve must be at least 0 MB: ${worst}` : null;
}

/** Compares what is free with the reserve; exactly the reserve is enough. */
export function roomFor(statistics: SpaceStatistics, reserveMegabytes: number): RoomAnswer {
  const { capacity, available } = statistics;
  if (capacity === 0) return doubt('capacity-unknown', 'the capacity must be more than 0', capacity);
  if (available < 0) return doubt('available-negative', 'what is available must not be negative', available);
  const reserve = reserveMegabytes * MEGABYTE;
  return available < reserve ? { kind: 'no-room', available, reserve } : { kind: 'room' };
}

/** The node condition OutOfDisk. */
export interface OutOfDisk {
  readonly status: 'true' | 'false' | 'unknown';
  /** When it last changed. */
  readonly since: Instant;
}

/**
 * The next OutOfDisk: true at once, false only when the last change is a transition period old, or when nothing was known.
 */
export function nextOutOfDisk(before: OutOfDisk, isOut: boolean, now: Instant, transition: Milliseconds): OutOfDisk {
  if (isOut) return before.status === 'true' ? before : { status: 'true', since: now };
  if (before.status === 'false') return before;
  if (before.status === 'true' && now - before.since < transition) return before;
  return { status: 'false', since: now };
}

function doubt(why: 'capacity-unknown' | 'available-negative', rule: string, value: number): RoomAnswer {
  return { kind: 'doubt', why, message: `Cannot tell whether there is room as ${rule}: ${value}` };
}
