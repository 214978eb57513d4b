import { elapsed, type Instant, milliseconds } from '../units/units.js';
import { fillRate } from './cadence.js';
import { SIGNALS, type Signal } from './signal.js';
import type { EvictionState } from './state.js';

/** Samples older than this say nothing about now: a writer may have ended meanwhile. */
const RECENT = milliseconds(3_000);

/**
 * Bytes that a signal's filesystem loses in a second, as the looks of the last seconds saw it: the fastest of them, since what
 * is collected side by side hides a loss and never makes one. 0 where it loses nothing, or where that is not told: of inodes no
 * samples are kept.
 */
export function fillRateNow(state: EvictionState, signal: Signal, now: Instant): number {
  const { filesystem, unit } = SIGNALS[signal];
  if (filesystem === null || unit === 'count') return 0;
  const samples = state.samples.get(filesystem) ?? [];
  return fillRate(samples.filter(({ at }) => elapsed(at, now) <= RECENT));
}
