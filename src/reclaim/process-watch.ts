import type { Clock } from '../ports/clock.js';
import type { ContainerProcessesPort } from '../ports/container-processes.js';
import { milliseconds } from '../units/units.js';
import { timeLimit } from './time-limit.js';

/** The kill does not wait longer for the look before it; it takes some 10 ms on a node of a thousand processes. */
const LOOK_WITHIN = milliseconds(250);
/** Afterwards there is time. */
const LOOK_AGAIN_WITHIN = milliseconds(2_000);

/**
 * Tells whether the processes of containers are gone, where the runtime says that they run. That none is seen proves nothing by
 * itself, as a daemon may see other processes than the runtime has: they must have been seen before.
 */
export class ProcessWatch {
  readonly #port: Pick<ContainerProcessesPort, 'look'> | undefined;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #seen: ReadonlySet<string> = new Set();

  constructor(port: Pick<ContainerProcessesPort, 'look'> | undefined, clock: Clock, signal: AbortSignal) {
    this.#port = port;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Sees who has processes, before they are told to end. Never rejects. */
  async begin(ids: readonly string[]): Promise<void> {
    this.#seen = (await this.#look(ids, LOOK_WITHIN)) ?? new Set();
  }

  /** Whether all of these had processes and have none now; false where that cannot be told. */
  async areGone(ids: readonly string[]): Promise<boolean> {
    if (ids.length === 0 || !ids.every((id) => this.#seen.has(id))) return false;
    const seen = await this.#look(ids, LOOK_AGAIN_WITHIN);
    return seen !== null && !ids.some((id) => seen.has(id));
  }

  async #look(ids: readonly string[], within: typeof LOOK_WITHIN): Promise<ReadonlySet<string> | null> {
    if (this.#port === undefined || ids.length === 0) return null;
    const limit = timeLimit(this.#clock, within, this.#signal);
    try {
      return new Set((await this.#port.look(ids, limit.signal)).keys());
    } catch {
      // Whatever went wrong, it cannot be told, and that is the answer.
      return null;
    } finally {
      limit.end();
    }
  }
}
