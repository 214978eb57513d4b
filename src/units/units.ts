/**
 * Branded numbers. A number whose unit is part of its type cannot be added to a number of another unit by mistake.
 * Convert at the edge, once, with the functions here: each checks its value and throws a `RangeError` on nonsense.
 */
declare const unit: unique symbol;
type Branded<Name extends string> = number & { readonly [unit]: Name };

/** Bytes on a filesystem or in memory: a non-negative integer. */
export type Bytes = Branded<'bytes'>;
/** Inodes or processes: a non-negative integer. */
export type Count = Branded<'count'>;
/** A span of time in milliseconds; may be fractional, never negative. */
export type Milliseconds = Branded<'milliseconds'>;
/** A point in time in milliseconds since the Unix epoch. Which clock it comes from is said where it is used. */
export type Instant = Branded<'instant'>;

/** Checks and brands a number of bytes. */
export function bytes(value: number): Bytes {
  return checkedInteger(value, 'bytes') as Bytes;
}

/** Checks and brands a number of inodes or processes. */
export function count(value: number): Count {
  return checkedInteger(value, 'count') as Count;
}

/** Checks and brands a duration. */
export function milliseconds(value: number): Milliseconds {
  if (!(value >= 0) || value === Number.POSITIVE_INFINITY) {
    throw new RangeError(`Cannot make a duration as milliseconds must be a finite number of at least 0: ${value}`);
  }
  return value as Milliseconds;
}

/** Checks and brands a point in time. */
export function instant(value: number): Instant {
  if (!Number.isFinite(value)) {
    throw new RangeError(`Cannot make an instant as it must be a finite number of milliseconds: ${value}`);
  }
  return value as Instant;
}

/** The time from one instant to a later one; zero when they come in the wrong order. */
export function elapsed(from: Instant, to: Instant): Milliseconds {
  return Math.max(0, to - from) as Milliseconds;
}

/** The instant that lies a duration later. */
export function later(from: Instant, by: Milliseconds): Instant {
  return (from + by) as Instant;
}

function checkedInteger(value: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`Cannot make a number of ${name} as it must be an integer from 0 to 2^53 - 1: ${value}`);
  }
  return value;
}
