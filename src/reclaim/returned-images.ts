import type { Clock } from '../ports/clock.js';
import { elapsed, type Instant, milliseconds } from '../units/units.js';

/** An image that is there again so soon after we removed it is one that somebody needs. Lists come five minutes apart. */
const COMES_BACK_WITHIN = milliseconds(15 * 60_000);
/** It is kept for so long after its removal: pulled once more, it would only be removed and pulled again. */
const KEPT_FOR = milliseconds(60 * 60_000);
/** Removals remembered; the oldest are forgotten first. */
const MOST = 1_000;

/** What the breaker is asked about: an image and when it was first seen. */
export interface Returned {
  readonly id: string;
  readonly firstSeen: Instant | null;
}

/**
 * Breaks the circle of an image that is removed for space, pulled again, and removed again: pulled again within minutes it is kept
 * for an hour. `earlier` tells the removals of an earlier life of the process; null = none is known.
 */
export class ReturnedImages {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #earlier: () => Pick<ReadonlyMap<string, Instant>, 'get'> | null;
  readonly #removed = new Map<string, Instant>();
  #told: ReadonlySet<string> = new Set();

  constructor(clock: Pick<Clock, 'now'>, earlier: () => Pick<ReadonlyMap<string, Instant>, 'get'> | null = () => null) {
    this.#clock = clock;
    this.#earlier = earlier;
  }

  /** Books the removal of an image by us. */
  removed(id: string): void {
    this.#removed.delete(id);
    this.#removed.set(id, this.#clock.now());
    const [oldest] = this.#removed.keys();
    if (this.#removed.size > MOST && oldest !== undefined) this.#removed.delete(oldest);
  }

  /** Why an image is kept for having come back, or null. */
  reason({ id, firstSeen }: Returned): string | null {
    const removedAt = this.#removedAt(id);
    if (removedAt === null || firstSeen === null || firstSeen < removedAt) return null;
    if (elapsed(removedAt, firstSeen) > COMES_BACK_WITHIN) return null;
    if (elapsed(removedAt, this.#clock.now()) >= KEPT_FOR) return null;
    return `having come back ${Math.round(elapsed(removedAt, firstSeen) / 1_000)} s after its removal`;
  }

  /** Those that are kept for it and were not told before. */
  newly<Image extends Returned>(images: readonly Image[]): readonly Image[] {
    const returned = images.filter((each) => this.reason(each) !== null);
    const news = returned.filter((each) => !this.#told.has(each.id));
    this.#told = new Set(returned.map((each) => each.id));
    return news;
  }

  #removedAt(id: string): Instant | null {
    return this.#removed.get(id) ?? this.#earlier()?.get(id) ?? null;
  }
}
