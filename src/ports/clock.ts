import type { BootTime } from '../eviction/wall-time.js';
import type { Instant, Milliseconds } from '../units/units.js';

/** The one source of time. Only `daemon/` knows the real one; tests and the simulator pass a virtual one. */
export interface Clock {
  /** Steady time: the wall clock at start plus monotonic time since. A jump of the wall clock moves no timer of ours. */
  now(): Instant;
  /** The wall clock, for comparing with times that others stamped. */
  wall(): Instant;
  /** Which life of the machine this is; absent or null where nobody tells. Times that were saved are believed more with it. */
  boot?(): BootTime | null;
  /** Resolves after `duration`, or at once when `signal` aborts (it never rejects). */
  sleep(duration: Milliseconds, signal?: AbortSignal): Promise<void>;
}
