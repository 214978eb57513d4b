import { systemClock } from '../../src/adapters/host/clock.js';
import type { Clock } from '../../src/ports/clock.js';
import { instant, milliseconds } from '../../src/units/units.js';

/** The real clock with its steady time running faster, for what takes minutes on a real node; the wall clock is the real one. */
export function fastClock(times: number): Clock {
  const real = systemClock();
  const began = real.now();
  return {
    now: () => instant(began + (real.now() - began) * times),
    wall: () => real.wall(),
    sleep: (duration, signal) => real.sleep(milliseconds(duration / times), signal),
  };
}
