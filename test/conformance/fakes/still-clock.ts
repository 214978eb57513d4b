import type { Clock } from '../../../src/ports/clock.js';
import { type Instant, instant } from '../../../src/units/units.js';

/** Go's zero time: what the vectors call "zero", before every number. */
export const ZERO_TIME = instant(-62_135_596_800_000);

/** A clock that a case sets. */
export class StillClock implements Clock {
  time: Instant = instant(0);

  now(): Instant {
    return this.time;
  }

  wall(): Instant {
    return this.time;
  }

  async sleep(): Promise<void> {
    throw new Error('Cannot sleep as nothing in a case waits');
  }
}
