import type { Clock } from '../ports/clock.js';
import { elapsed, type Instant, milliseconds } from '../units/units.js';

/** A state that lasts is said again after this. */
const SAY_AGAIN_AFTER = milliseconds(3_600_000);
/** States remembered; past that the oldest are forgotten, and may be said twice. */
const MOST_STATES = 10_000;

/**
 * Which states were said to last, in passes under pressure and periodic ones alike: a state is news when it begins and once an
 * hour, whatever its numbers do. Keys begin with the code of the warning.
 */
export class Notices {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #said = new Map<string, Instant>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Books that a state lasts. Answers whether that is news. */
  begins(key: string): boolean {
    const now = this.#clock.now();
    const before = this.#said.get(key);
    if (before !== undefined && elapsed(before, now) < SAY_AGAIN_AFTER) return false;
    this.#say(key, now);
    return true;
  }

  /** Books that a state lasts which is said once in the life of the process. Answers whether that is news. */
  beginsForGood(key: string): boolean {
    if (this.#said.has(key)) return false;
    this.#say(key, this.#clock.now());
    return true;
  }

  /** Books that a state has ended: when it begins again it is news. */
  ends(key: string): void {
    this.#said.delete(key);
  }

  /** Books which states of a code last now, all others having ended. Answers those that are news, in their order. */
  last(code: string, states: readonly string[]): readonly string[] {
    const now = new Set(states.map((state) => `${code} ${state}`));
    for (const key of this.#said.keys()) if (key.startsWith(`${code} `) && !now.has(key)) this.#said.delete(key);
    return states.filter((state) => this.begins(`${code} ${state}`));
  }

  #say(key: string, at: Instant): void {
    this.#said.delete(key);
    this.#said.set(key, at);
    const [oldest] = this.#said.keys();
    if (this.#said.size > MOST_STATES && oldest !== undefined) this.#said.delete(oldest);
  }
}
