import type { Availability } from '../eviction/event.js';
import type { Signal } from '../eviction/signal.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';

/**
 * How long space that a removal gave back may take: containerd answers RemoveContainer first and frees 40-600 ms later, 1.6 s
 * once, measured.
 */
export const SPACE_COMES_WITHIN = milliseconds(2_000);

/** What a collection books of space that comes late, and asks of it. */
export type SpaceAccount = Pick<
  LateSpace,
  'expect' | 'saw' | 'sawBeside' | 'sawAll' | 'outstanding' | 'owed' | 'waitLeft'
>;

/**
 * The account of space that removals have freed and that has not come back yet. What is in it is neither removed for a second
 * time nor forgotten before a pod is chosen.
 */
export class LateSpace {
  /** As far as looks prove that it has come: what a pod's life may depend on. */
  #owed: number | null = 0;
  /** The same less what came along with the removal of images: what else to remove depends on no more than this. */
  #probable: number | null = 0;
  #lastRemoval: Instant | null = null;
  #seen: Availability = {};

  /** Books removals whose space comes after the call. `claimed` null = nobody knows how much. */
  expect(claimed: number | null, before: Availability, now: Instant): void {
    const isOver = this.waitLeft(now) === 0;
    const add = (pending: number | null) => (claimed === null || pending === null ? null : pending + claimed);
    this.#owed = add(isOver ? 0 : this.#owed);
    this.#probable = add(isOver ? 0 : this.#probable);
    this.#lastRemoval = now;
    this.#seen = before;
  }

  /** Books what a look saw: a rise is taken as space that came back. */
  saw(available: Availability): void {
    const rose = rise(this.#seen, available);
    this.#owed = less(this.#owed, rose);
    this.#probable = less(this.#probable, rose);
    this.#seen = available;
  }

  /**
   * Books a look after removals that free at once, of images: their rise proves nothing, but with them a runtime collects
   * what containers left (measured on containerd, three of three), so that nothing else is waited for before the next one.
   */
  sawBeside(available: Availability): void {
    this.#probable = 0;
    this.#seen = available;
  }

  /** Books a look after the runtime has freed all that was removed so far: nothing more will come. */
  sawAll(available: Availability): void {
    this.#owed = 0;
    this.#probable = 0;
    this.#seen = available;
  }

  /** Bytes that are probably still to come; null = some, nobody knows how many; 0 = none. */
  outstanding(now: Instant): number | null {
    return this.waitLeft(now) === 0 ? 0 : this.#probable;
  }

  /** Bytes that have not been proved to have come; null as above. */
  owed(now: Instant): number | null {
    return this.waitLeft(now) === 0 ? 0 : this.#owed;
  }

  /** How much longer what is owed may take to come. */
  waitLeft(now: Instant): Milliseconds {
    if (this.#lastRemoval === null || this.#owed === 0) return milliseconds(0);
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
      sawBeside: () => undefined,
      sawAll: () => {
        this.sawAll(this.#seen);
      },
      outstanding: () => 0,
      owed: () => 0,
      waitLeft: () => milliseconds(0),
    };
  }
}

function less(pending: number | null, came: number): number | null {
  return pending === null ? null : Math.max(0, pending - came);
}

function rise(before: Availability, after: Availability): number {
  const signals = (Object.keys(after) as readonly Signal[]).filter((signal) => signal.endsWith('.available'));
  return Math.max(0, ...signals.map((signal) => (after[signal] ?? 0) - (before[signal] ?? after[signal] ?? 0)));
}
