import type { Clock } from '../ports/clock.js';
import type { IoPressure, IoPressurePort } from '../ports/io-pressure.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';

/** How the next batch is removed. */
export interface PacedBatch {
  /** Removals at a time, at least 1. */
  readonly concurrency: number;
  /** How long to leave the disk to others before it. */
  readonly pause: Milliseconds;
}

/** From this share of time on in which nothing got on but waiting for disks, removals take turns with everybody else. */
const STARVING_PERCENT = 40;
/** From this share on fewer go at a time. */
const BUSY_PERCENT = 20;
/** A removal takes some ten milliseconds; one that takes so long meets a runtime that suffers. */
const SLOW = milliseconds(1_000);
const VERY_SLOW = milliseconds(5_000);
const LONGEST_PAUSE = milliseconds(1_000);
/** The kernel's averages move every two seconds. */
const READ_EVERY = milliseconds(1_000);

/**
 * How many removals go at a time: fewer while disks or the runtime suffer, so that the cure does not starve the node. `isUrgent`
 * (less than half of the line is left) overrules the disks, since a full one hurts more than a busy one. Pure.
 */
export function paced(
  most: number,
  facts: {
    readonly pressure: IoPressure | null;
    /** How long a removal of the last batch took on the average; null = there was none. */
    readonly latency: Milliseconds | null;
    readonly isUrgent: boolean;
  },
): PacedBatch {
  const { pressure, latency, isUrgent } = facts;
  const full = isUrgent || pressure === null ? 0 : pressure.full;
  const byDisk = full >= STARVING_PERCENT ? 1 : full >= BUSY_PERCENT ? Math.ceil(most / 2) : most;
  const byRuntime = latency === null || latency < SLOW ? most : latency < VERY_SLOW ? Math.ceil(most / 2) : 1;
  const pause = full >= STARVING_PERCENT && latency !== null ? Math.min(LONGEST_PAUSE, latency) : 0;
  return { concurrency: Math.max(1, Math.min(most, byDisk, byRuntime)), pause: milliseconds(pause) };
}

/** Paces the removals of all collections by what was last seen of the disks and the runtime. */
export class Pace {
  readonly #port: IoPressurePort;
  readonly #clock: Clock;
  #pressure: IoPressure | null = null;
  #readAt: Instant | null = null;
  #latency: Milliseconds | null = null;

  constructor(port: IoPressurePort, clock: Clock) {
    this.#port = port;
    this.#clock = clock;
  }

  /** How the next batch goes. */
  async next(most: number, isUrgent: boolean): Promise<PacedBatch> {
    const now = this.#clock.now();
    if (this.#readAt === null || elapsed(this.#readAt, now) >= READ_EVERY) {
      this.#readAt = now;
      this.#pressure = await this.#port.read();
    }
    return paced(most, { pressure: this.#pressure, latency: this.#latency, isUrgent });
  }

  /** Books how long the removals of a batch took. */
  took(times: readonly Milliseconds[]): void {
    if (times.length === 0) return;
    this.#latency = milliseconds(times.reduce((sum, each) => sum + each, 0) / times.length);
  }
}
