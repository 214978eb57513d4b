import { type Instant, instant } from '../../../src/units/units.js';

/** The real wall clock: gRPC measures its deadlines by it, so nothing else will do. */
export function wallClock(): Instant {
  return instant(Date.now());
}
