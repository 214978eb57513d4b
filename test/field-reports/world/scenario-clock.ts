import type { Clock } from '../../../src/ports/clock.js';
import { type Instant, instant, type Milliseconds } from '../../../src/units/units.js';
import { VirtualClock } from '../../fakes/virtual-clock.js';

/** When every scenario begins: late enough for ages of years. */
const BEGINNING = Date.UTC(2025, 0, 1);

/** The clock of a scenario: it moves with the work that waits for it and with its steps. The wall clock may jump beside it. */
export class ScenarioClock implements Clock {
  readonly #clock = new VirtualClock(BEGINNING);
  #wallAhead = 0;

  now(): Instant {
    return this.#clock.now();
  }

  wall(): Instant {
    return instant(this.#clock.now() + this.#wallAhead);
  }

  sleep(duration: Milliseconds, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(duration, signal);
  }

  run<Result>(work: Promise<Result>): Promise<Result> {
    return this.#clock.run(work);
  }

  pass(duration: number): Promise<void> {
    return this.#clock.pass(duration);
  }

  jumpWall(by: number): void {
    this.#wallAhead += by;
  }
}
