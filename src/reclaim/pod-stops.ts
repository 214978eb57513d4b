import type { Clock } from '../ports/clock.js';
import type { PodRecord } from '../ports/pods.js';
import { RuntimeError, type RuntimeErrorKind, type RuntimePort } from '../ports/runtime.js';
import { type Instant, later, type Milliseconds, milliseconds } from '../units/units.js';
import { timeLimit } from './time-limit.js';

const AT_ONCE = milliseconds(0);
/** With its containers gone a sandbox stops in 30 to 160 ms, measured; one that hangs must not hold up all passes. */
const SANDBOX_STOPS_WITHIN = milliseconds(10_000);
/** So long after the end of the grace a stop is overdue: with room on the disk it takes 30 to 100 ms, measured. */
const OVERDUE_AFTER = milliseconds(1_000);

/** Failures after which what was to be stopped may be dead all the same. */
const MAY_HAVE_KILLED: ReadonlySet<RuntimeErrorKind> = new Set(['deadline', 'still-running', 'cancelled', 'no-space']);

/** The stops of a pod's containers and then of its sandboxes, each kind together; they begin when this is made. */
export class PodStops {
  readonly #runtime: Pick<RuntimePort, 'stopContainer' | 'stopSandbox'>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #over = new AbortController();
  #graceEnds: Instant;
  #errors: readonly unknown[] = [];

  constructor(
    runtime: Pick<RuntimePort, 'stopContainer' | 'stopSandbox'>,
    clock: Clock,
    pod: PodRecord,
    grace: Milliseconds,
    signal: AbortSignal,
    hasten: AbortSignal | undefined,
  ) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#signal = signal;
    this.#graceEnds = later(clock.now(), grace);
    void this.#stopAll(pod, grace, hasten);
  }

  get areOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** What failed, once they are over. */
  get errors(): readonly unknown[] {
    return this.#errors;
  }

  /** When the grace is over: the kill follows then. */
  get graceEnds(): Instant {
    return this.#graceEnds;
  }

  /** Whether a runtime that has room would have answered by now. */
  get areOverdue(): boolean {
    return this.#clock.now() >= later(this.#graceEnds, OVERDUE_AFTER);
  }

  /** Whether all that failed was refused outright: then it never began. */
  get wereRefused(): boolean {
    const mayHaveKilled = (error: unknown) => error instanceof RuntimeError && MAY_HAVE_KILLED.has(error.kind);
    return this.#errors.length > 0 && !this.#errors.some(mayHaveKilled);
  }

  /** Waits that long, or until they are over. */
  async rest(atMost: Milliseconds): Promise<void> {
    await this.#clock.sleep(atMost, AbortSignal.any([this.#over.signal, this.#signal]));
  }

  /** Stops without grace, beside any stop that still waits for its own; its own failure changes nothing. */
  killNow(ids: readonly string[]): void {
    const now = this.#clock.now();
    if (now < this.#graceEnds) this.#graceEnds = now;
    for (const id of ids) void this.#runtime.stopContainer(id, AT_ONCE, this.#signal).catch(() => undefined);
  }

  async #stopAll(pod: PodRecord, grace: Milliseconds, hasten: AbortSignal | undefined): Promise<void> {
    const ids = pod.containers.filter((each) => each.state !== 'exited').map(({ id }) => id);
    const stops = ids.map((id) => this.#runtime.stopContainer(id, grace, this.#signal));
    const overtake = () => {
      this.killNow(ids);
    };
    hasten?.addEventListener('abort', overtake, { once: true });
    if (hasten?.aborted === true) overtake();
    const containers = await Promise.allSettled(stops);
    hasten?.removeEventListener('abort', overtake);
    const limit = timeLimit(this.#clock, SANDBOX_STOPS_WITHIN, this.#signal);
    const sandboxes = await Promise.allSettled(
      pod.sandboxes.map((each) => this.#runtime.stopSandbox(each.id, limit.signal)),
    );
    limit.end();
    this.#errors = [...containers, ...sandboxes].flatMap((each) =>
      each.status === 'rejected' ? [each.reason as unknown] : [],
    );
    this.#over.abort();
  }
}
