import type { Limit, Threshold } from './threshold.js';

const NANO = 1_000_000_000n;
/** What Go on amd64 makes of a float that does not fit 64 bits, and of NaN. */
const INT64_MIN = -(2n ** 63n);

/** A threshold against one capacity, as plain integers in the signal's unit. */
export interface Line {
  /** The threshold is met while the available amount is below this. */
  readonly line: number;
  /** It has cleared when the available amount is not below this: the line plus the minimum reclaim. */
  readonly target: number;
}

/**
 * Resolves a threshold against a capacity, exactly: sums of quantities are made before rounding up, fractions are
 * truncated. Mirrors `getThresholdQuantity` and the comparison in `thresholdsMet`. Numbers beyond 2^53 are rounded to the
 * nearest double, which no capacity reaches.
 */
export function lineOf(threshold: Pick<Threshold, 'limit' | 'minReclaim'>, capacity: number): Line {
  const base = nanoOf(threshold.limit, capacity);
  const band = threshold.minReclaim === null ? 0n : nanoOf(threshold.minReclaim, capacity);
  return { line: Number(ceilDivide(base)), target: Number(ceilDivide(base + band)) };
}

function nanoOf(limit: Limit, capacity: number): bigint {
  switch (limit.kind) {
    case 'amount':
      return limit.quantity.nano;
    case 'fraction':
      return truncateLikeGo(capacity * limit.fraction) * NANO;
  }
}

function truncateLikeGo(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) return INT64_MIN;
  return BigInt(Math.trunc(value));
}

function ceilDivide(nano: bigint): bigint {
  const whole = nano / NANO;
  return nano > whole * NANO ? whole + 1n : whole;
}
