import type { Clock } from '../ports/clock.js';
import { RuntimeError, type RuntimeErrorKind } from '../ports/runtime.js';
import { elapsed, type Instant, later, type Milliseconds, milliseconds } from '../units/units.js';

/** How long an id is left alone after its first failure; each further one doubles it. */
const FIRST_REST = milliseconds(120_000);
const LONGEST_REST = milliseconds(3_600_000);
/** Ids remembered; the longest known are forgotten first, and tried again. */
const MOST_IDS = 10_000;

/**
 * Failures that say something about the object. The runtime's own silence says nothing of it, want of space is mended by what
 * else is removed, and another call that is at work will end.
 */
const OF_THE_OBJECT: ReadonlySet<RuntimeErrorKind> = new Set([
  'failed',
  'still-running',
  'permission-denied',
  'without-effect',
]);

/**
 * What could not be removed, or was and stayed: left alone for two minutes, then four, and so on up to an hour, under pressure and
 * without. A success clears it. One failure never ends a collection, and a stubborn object is not asked about ten times a second.
 */
export class BackOff {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #failures = new Map<string, { readonly times: number; readonly until: Instant; readonly message: string }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Books a failed removal, as far as it says something about the object. */
  failed(id: string, error: unknown): void {
    if (!(error instanceof RuntimeError) || !OF_THE_OBJECT.has(error.kind)) return;
    const now = this.#clock.now();
    const times = (this.#failures.get(id)?.times ?? 0) + 1;
    this.#failures.delete(id);
    this.#failures.set(id, { times, until: later(now, restAfter(times)), message: error.message });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MOST_IDS && oldest !== undefined) this.#failures.delete(oldest);
  }

  /** Books a removal that was carried out. */
  succeeded(id: string): void {
    this.#failures.delete(id);
  }

  /** Why an id is left alone for now, or null. */
  reason(id: string): string | null {
    const failure = this.#failures.get(id);
    const now = this.#clock.now();
    if (failure === undefined || now >= failure.until) return null;
    const seconds = Math.ceil(elapsed(now, failure.until) / 1_000);
    return `could not be removed ${failure.times} ${failure.times === 1 ? 'time' : 'times'}, tried again in ${seconds} s: ${failure.message}`;
  }
}

function restAfter(times: number): Milliseconds {
  return milliseconds(Math.min(LONGEST_REST, FIRST_REST * 2 ** (times - 1)));
}
