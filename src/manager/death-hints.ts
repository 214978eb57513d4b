import type { Clock } from '../ports/clock.js';
import type { Milliseconds } from '../units/units.js';

/** Ids that wait at most; a list finds the others. */
const MOST_WAITING = 1_000;

/** Ids of containers of which the runtime said that they have stopped. Hints only: some get lost, and lists are the truth. */
export class DeathHints {
  readonly #ids = new Set<string>();
  #wake: (() => void) | null = null;

  give(id: string): void {
    if (this.#ids.size < MOST_WAITING) this.#ids.add(id);
    this.#wake?.();
  }

  /** Waits for a hint, `limit` at the longest. */
  async wait(clock: Clock, limit: Milliseconds, abort: AbortSignal): Promise<void> {
    if (this.#ids.size > 0) return;
    const woken = new AbortController();
    this.#wake = () => {
      woken.abort();
    };
    await clock.sleep(limit, AbortSignal.any([woken.signal, abort]));
    this.#wake = null;
  }

  /** Takes all that wait. */
  take(): readonly string[] {
    const ids = [...this.#ids];
    this.#ids.clear();
    return ids;
  }
}
