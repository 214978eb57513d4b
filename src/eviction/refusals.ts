import { elapsed, type Instant, milliseconds } from '../units/units.js';
import type { NodeCondition } from './signal.js';
import type { Warning } from './warning.js';

/** An owner that makes pods anew as fast as they are refused is told of once in this time. */
const TOLD_EVERY = milliseconds(60_000);
/** Owners remembered; the one heard of longest ago is forgotten first, and told of anew. */
const MOST_OWNERS = 1_000;

/** Counts refused pods by their owner, so that a flood of them is one message a minute and not one a pod. */
export class Refusals {
  readonly #owners = new Map<string, { readonly toldAt: Instant; readonly since: number }>();

  /** Books a refusal. Answers with what to say: at once for the first of an owner, then with the count of the minute. */
  refused(owner: string, conditions: readonly NodeCondition[], now: Instant): Warning | null {
    const before = this.#owners.get(owner);
    const isDue = before === undefined || elapsed(before.toldAt, now) >= TOLD_EVERY;
    const pods = (before?.since ?? 0) + 1;
    this.#owners.delete(owner);
    this.#owners.set(owner, isDue ? { toldAt: now, since: 0 } : { toldAt: before.toldAt, since: pods });
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > MOST_OWNERS && oldest !== undefined) this.#owners.delete(oldest);
    return isDue ? { code: 'ADMISSION_REJECTED', owner, pods, conditions } : null;
  }
}
