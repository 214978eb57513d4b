import type { Clock } from '../../src/ports/clock.js';
import { type Instant, instant, type Milliseconds } from '../../src/units/units.js';

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/** A clock that stands still while anything can go on, and jumps to the next sleeper when everybody waits. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #sleepers: Sleeper[] = [];

  constructor(start = 1_000_000) {
    this.#now = start;
  }

  now(): Instant {
    return instant(this.#now);
  }

  wall(): Instant {
    return this.now();
  }

  sleep(duration: Milliseconds, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const onAbort = () => {
        this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
        resolve();
      };
      const sleeper: Sleeper = {
        at: this.#now + duration,
        wake() {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      // Those who wake at the same time wake in the order in which they went to sleep.
      const place = this.#sleepers.findIndex((each) => each.at > sleeper.at);
      this.#sleepers.splice(place === -1 ? this.#sleepers.length : place, 0, sleeper);
    });
  }

  /** Runs asynchronous work to its end in no real time. Rejects when it waits for something that is no sleep of this clock. */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    for (;;) {
      await everybodyWaits();
      if (isDone) return work;
      if (!this.#wakeNext()) throw new Error('Cannot go on as the work waits for something other than this clock');
    }
  }

  /** Lets time pass: everybody who wakes until then goes on. */
  async pass(duration: number): Promise<void> {
    const end = this.#now + duration;
    await everybodyWaits();
    for (let next = this.#sleepers[0]; next !== undefined && next.at <= end; next = this.#sleepers[0]) {
      this.#wakeNext();
      await everybodyWaits();
    }
    this.#now = end;
  }

  /** Moves the hands while nobody looks. */
  skip(duration: number): void {
    this.#now += duration;
  }

  #wakeNext(): boolean {
    const next = this.#sleepers.shift();
    if (next === undefined) return false;
    this.#now = Math.max(this.#now, next.at);
    next.wake();
    return true;
  }
}

/** Resolves when every promise that could go on has: immediates come after all microtasks. */
function everybodyWaits(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
