import type { Clock } from '../../ports/clock.js';
import { type Instant, later, type Milliseconds } from '../../units/units.js';

/** What came of a job: its result, or that this lane has been waiting since an instant. */
export type Passage<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'stuck'; readonly since: Instant };

interface Flight {
  readonly since: Instant;
  readonly label: string;
  readonly ended: Promise<void>;
  /** Somebody waited in vain until the deadline. */
  overdue: boolean;
}

/**
 * Lets one job at a time through each lane, and keeps nobody waiting longer than a deadline. A job that overstays blocks its
 * lane until it comes back; whoever comes meanwhile hears at once since when. So a dead filesystem holds one call, however
 * often it is asked for.
 */
export class Lanes {
  readonly #clock: Clock;
  readonly #deadline: Milliseconds;
  readonly #flights = new Map<string, Flight>();

  constructor(clock: Clock, deadline: Milliseconds) {
    this.#clock = clock;
    this.#deadline = deadline;
  }

  /** Runs `job`, which must not reject, when the lane is free. `label` groups lanes for `stuck`. */
  async pass<T>(lane: string, label: string, job: () => Promise<T>): Promise<Passage<T>> {
    const limit = later(this.#clock.now(), this.#deadline);
    for (let ahead = this.#flights.get(lane); ahead !== undefined; ahead = this.#flights.get(lane)) {
      const now = this.#clock.now();
      const patience = Math.min(limit, later(ahead.since, this.#deadline)) - now;
      if (ahead.overdue || patience <= 0 || !(await endsWithin(ahead.ended, patience))) {
        return { kind: 'stuck', since: ahead.since };
      }
    }
    let result: T | undefined;
    const since = this.#clock.now();
    const ended = job().then((value) => {
      result = value;
      this.#flights.delete(lane);
    });
    const flight: Flight = { since, label, ended, overdue: false };
    this.#flights.set(lane, flight);
    if (!(await endsWithin(ended, Math.max(0, limit - since)))) {
      flight.overdue = true;
      return { kind: 'stuck', since };
    }
    return { kind: 'done', result: result as T }; // `ended` came first, so `result` was set
  }

  /** How many jobs of a label are beyond the deadline and have not come back. */
  stuck(label: string): number {
    let stuck = 0;
    for (const flight of this.#flights.values()) if (flight.overdue && flight.label === label) stuck += 1;
    return stuck;
  }
}

/** The timer keeps the process alive on purpose: a question that was asked gets its answer. */
function endsWithin(ended: Promise<void>, patience: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), patience);
    void ended.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
