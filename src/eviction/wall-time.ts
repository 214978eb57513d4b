import { type Instant, instant, type Milliseconds, milliseconds } from '../units/units.js';

/** Which life of the machine it is, and how long it has lasted. */
export interface BootTime {
  readonly id: string;
  /** By the clock that nobody can set. */
  readonly uptime: Milliseconds;
}

/** All clocks, read together. `boot` is null where nobody tells. */
export interface ClockReading {
  readonly now: Instant;
  readonly wall: Instant;
  readonly boot: BootTime | null;
}

/**
 * Where steady time lies on the wall clock: what is added to the one to have the other. Steady time means nothing to another
 * process, so times are saved as wall times of one frame, the same for all that is saved.
 */
export interface TimeFrame {
  readonly offset: number;
}

/** The wall clock may be put right by this much before everything is saved anew. */
const SAME_FRAME_WITHIN_MS = 1_000;

/** The frame of now: the one before, unless the wall clock has jumped since. What was saved in another frame is to be saved anew. */
export function frameAt({ now, wall }: Pick<ClockReading, 'now' | 'wall'>, before: TimeFrame | null): TimeFrame {
  const offset = Math.round(wall - now);
  return before !== null && Math.abs(before.offset - offset) <= SAME_FRAME_WITHIN_MS ? before : { offset };
}

/** A steady time as it is saved. */
export function toWall(at: Instant, frame: TimeFrame): Instant {
  return instant(Math.round(at + frame.offset));
}

/** When something was saved, by the frame it was saved in. Ages are counted from here, so that a jump of the wall clock is none. */
export interface SavedAt {
  readonly wall: Instant;
  readonly boot: BootTime | null;
}

/** The time of saving. */
export function savedAt({ now, boot }: ClockReading, frame: TimeFrame): SavedAt {
  return { wall: toWall(now, frame), boot };
}

/**
 * How long ago something was saved. In the same life of the machine the clock says it that nobody can set; else the wall clock,
 * and where that has been put back nobody knows, and the time between counts as none.
 */
export function sinceSaved(saved: SavedAt, { wall, boot }: ClockReading): Milliseconds {
  if (saved.boot !== null && boot !== null && saved.boot.id === boot.id && boot.uptime >= saved.boot.uptime) {
    return milliseconds(boot.uptime - saved.boot.uptime);
  }
  return milliseconds(Math.max(0, wall - saved.wall));
}

/**
 * A saved time as a steady time of this process. One that lies after its own saving has no age that could be believed: it counts
 * from now.
 */
export function fromWall(at: Instant, saved: SavedAt, reading: ClockReading): Instant {
  const age = saved.wall - at;
  return age < 0 ? reading.now : instant(reading.now - age - sinceSaved(saved, reading));
}
