import type { EvictionUnderWay } from './state.js';

/** An eviction that brings less than this share of what was expected is futile. */
const WORTHWHILE_SHARE = 0.1;

/** What an eviction has not brought yet of what is expected of it, in the signal's unit; null = some, nobody knows how much. */
export function stillToCome(underWay: EvictionUnderWay, available: number): number | null {
  if (underWay.expected === null) return null;
  const brought = available - underWay.availableBefore;
  return Math.max(0, underWay.expected + (underWay.alsoExpected ?? 0) - Math.max(0, brought));
}

/** Whether an eviction brought next to nothing; false where nobody knows what to expect. */
export function isFutile({ expected, availableBefore }: EvictionUnderWay, available: number): boolean {
  return expected !== null && available - availableBefore < expected * WORTHWHILE_SHARE;
}
