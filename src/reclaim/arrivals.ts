import type { EarlierImage } from '../gc/image-collection.js';
import type { Clock } from '../ports/clock.js';
import { type Instant, instant } from '../units/units.js';

/**
 * When images came to this node, as the runtime's records tell it: for a command that has no past of its own. Without it every
 * image would count as new, and none as older than another. What a daemon remembers goes before it.
 */
export class Arrivals {
  readonly #clock: Pick<Clock, 'now' | 'wall'>;
  #times: ReadonlyMap<string, Instant> = new Map();

  constructor(clock: Pick<Clock, 'now' | 'wall'>) {
    this.#clock = clock;
  }

  /** Takes over what is told, by image id and the wall clock. */
  learn(times: ReadonlyMap<string, Instant>): void {
    this.#times = times;
  }

  /** What is known of an image; undefined = nothing. One from the future came just now. */
  earlier(id: string): EarlierImage | undefined {
    const at = this.#times.get(id);
    if (at === undefined) return undefined;
    const age = Math.max(0, this.#clock.wall() - at);
    return { firstDetected: instant(this.#clock.now() - age), lastUsed: null };
  }
}
