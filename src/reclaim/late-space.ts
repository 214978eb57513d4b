import type { Availability } from '../eviction/event.js';
import type { Signal } from '../eviction/signal.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';

/**
 * How long space that a removal gave back may take: containerd answers RemoveContainer first and frees 40-600 ms later, 1.6 s
 * once, measured.
 */
export const SPACE_COMES_WITHIN = milliseconds(2_000);

/** What a collection books of space that comes late, and asks of it. */
export type SpaceAccount = Pick<LateSpace, 'expect' | 'saw' | 'passOver' | 'outstanding' | 'waitLeft'>;

/**
 * The account of space that removals have freed and that has not come back yet. What is in it is neither removed for a second
 * time nor forgotten before a pod is chosen.
 */
export class LateSpace {
  #bytes: number | null = 0;
  #lastRemoval: Instant | null = null;
  #seen: Availability = {};

  /** Books removals whose space comes after the call. `claimed` null = nobody knows how much. */
  expect(claimed: number | null, before: Availability, now: Instant): void {
    const pending = this.outstanding(now);
    this.#bytes = claimed === null || pending === null ? null : pending + claimed;
    this.#lastRemoval = now;
    this.#seen = before;
  }

  /** Books what a look saw: a rise is taken as space that came back. */
  saw(available: Availability): void {
    if (this.#bytes !== null) this.#bytes = Math.max(0, this.#bytes - rise(this.#seen, available));
    this.#seen = available;
  }

  /** Books a look whose rise has another cause: removals that free at once, some of which may have taken the rest along. */
  passOver(available: Availability): void {
    this.#seen = available;
  }

  /** Bytes that are still to come as far as the claims go; null = some, nobody knows how many; 0 = none. */
  outstanding(now: Instant): number | null {
    return this.waitLeft(now) === 0 ? 0 : this.#bytes;
  }

  /** How much longer what is outstanding may take to come. */
  waitLeft(now: Instant): Milliseconds {
    if (this.#lastRemoval === null || this.#bytes === 0) return milliseconds(0);
    return milliseconds(Math.max(0, SPACE_COMES_WITHIN - elapsed(this.#lastRemoval, now)));
  }

  /**
   * The account as a collection for another disk sees it, one on which no writable layers lie: what that removes comes back
   * here, and it has nothing to wait for.
   */
  elsewhere(): SpaceAccount {
    return {
      expect: (claimed, _before, now) => {
        this.expect(claimed, this.#seen, now);
      },
      saw: () => undefined,
      passOver: () => undefined,
      outstanding: () => 0,
      waitLeft: () => milliseconds(0),
    };
  }
}

function rise(before: Availability, after: Availability): number {
  const signals = (Object.keys(after) as readonly Signal[]).filter((signal) => signal.endsWith('.available'));
  return Math.max(0, ...signals.map((signal) => (after[signal] ?? 0) - (before[signal] ?? after[signal] ?? 0)));
}
