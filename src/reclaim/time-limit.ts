import type { Clock } from '../ports/clock.js';
import type { Milliseconds } from '../units/units.js';

/** Why a signal aborted whose time was up, as the caller set it. */
export const TIME_IS_UP: unique symbol = Symbol('time is up');

/** A signal that aborts after `limit`, or when `outer` does. `end` frees what it holds; call it when the work is done. */
export function timeLimit(
  clock: Clock,
  limit: Milliseconds,
  outer: AbortSignal,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const inner = new AbortController();
  const over = new AbortController();
  void clock.sleep(limit, over.signal).then(() => {
    // One that ended in time aborts nothing.
    if (!over.signal.aborted) inner.abort(TIME_IS_UP);
  });
  return {
    signal: AbortSignal.any([inner.signal, outer]),
    end: () => {
      over.abort();
    },
  };
}
