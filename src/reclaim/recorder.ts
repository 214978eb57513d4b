import { type StoredValue, saved } from '../eviction/stored-value.js';
import { type ClockReading, frameAt, fromWall, type SavedAt, savedAt, type TimeFrame } from '../eviction/wall-time.js';
import type { Clock } from '../ports/clock.js';
import type { StoreChange, Stored, StorePort } from '../ports/store.js';
import { type Instant, instant, milliseconds } from '../units/units.js';

/** What was saved, with its times read by the clocks of now. */
export interface Past {
  readonly stored: Stored;
  readonly now: Instant;
  readonly fromWall: (at: number) => Instant;
}

/** The key under which the time of saving stands, beside the parts of the manager's state. */
export const CLOCK_KEY = 'clock';

/**
 * The one who talks to the store: turns times of this process into times that another one can read, and sees to it that all that is
 * saved goes by one frame. Nothing is saved before what lies there was read, as it would be lost.
 */
export class Recorder {
  readonly #store: StorePort;
  readonly #clock: Clock;
  #frame: TimeFrame | null = null;
  #loading: Promise<Past> | null = null;
  #isLoaded = false;

  constructor(store: StorePort, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Whether what was saved is known, or known to be lost: only then may anything be saved. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Reads what was saved, once; later calls have the same answer. Rejects with a `PortError` when it cannot be read. */
  load(): Promise<Past> {
    this.#loading ??= this.#store.load().then(
      (stored) => {
        this.#isLoaded = true;
        return pastOf(stored, this.#reading());
      },
      (error: unknown) => {
        this.#isLoaded = true;
        throw error;
      },
    );
    return this.#loading;
  }

  /** The frame to save in now. Another one than before: everything is to be saved anew. */
  frame(): TimeFrame {
    this.#frame = frameAt({ now: this.#clock.now(), wall: this.#clock.wall() }, this.#frame);
    return this.#frame;
  }

  /** Has everything saved anew. */
  beginAnew(): void {
    this.#frame = null;
  }

  /** Hands changes to the store, with the time of saving. */
  save(changes: readonly StoreChange[], frame: TimeFrame, when: 'soon' | 'now'): void {
    if (!this.#isLoaded || changes.length === 0) return;
    const { wall, boot } = savedAt(this.#reading(), frame);
    const value = { wall, boot: boot === null ? null : { id: boot.id, uptimeMs: Math.round(boot.uptime) } };
    this.#store.save([...changes, { shelf: 'manager', key: CLOCK_KEY, value }], when);
  }

  takeNews(): ReturnType<StorePort['takeNews']> {
    return this.#store.takeNews();
  }

  #reading(): ClockReading {
    return readingOf(this.#clock);
  }
}

/** All clocks, read together. */
function readingOf(clock: Clock): ClockReading {
  return { now: clock.now(), wall: clock.wall(), boot: clock.boot?.() ?? null };
}

function pastOf(stored: Stored, reading: ClockReading): Past {
  const time = timeOf(stored.manager.get(CLOCK_KEY));
  return {
    stored,
    now: reading.now,
    // Without a time of saving no age can be told.
    fromWall: (at) => (time === null ? reading.now : fromWall(instant(at), time, reading)),
  };
}

function timeOf(value: StoredValue | undefined): SavedAt | null {
  try {
    const { wall, boot } = saved.fields(value ?? null);
    const booted = saved.orNull(saved.fields, boot);
    return {
      wall: instant(saved.number(wall)),
      boot:
        booted === null
          ? null
          : { id: saved.text(booted['id']), uptime: milliseconds(saved.number(booted['uptimeMs'])) },
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}
