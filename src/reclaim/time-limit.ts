import type { Clock } from '../ports/clock.js';
import type { Milliseconds } from '../units/units.js';

/** A signal that aborts after `limit`, or when `outer` does. `end` frees what it holds; call it when the work is done. */
export function timeLimit(
  clock: Clock,
  limit: Milliseconds,
  outer: AbortSignal,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const inner = new AbortController();
  const over = new AbortController();
  void clock.sleep(limit, over.signal).then(() => {
    inner.abort();
  });
  return {
    signal: AbortSignal.any([inner.signal, outer]),
    end: () => {
      over.abort();
    },
  };
}
