import { isLayingDue, LAY_AGAIN_AFTER } from '../eviction/ballast.js';
import type { BallastReason, EvictionEvent } from '../eviction/event.js';
import type { FilesystemName } from '../eviction/signal.js';
import type { BallastPort } from '../ports/ballast.js';
import type { Clock } from '../ports/clock.js';
import { type Bytes, bytes, elapsed, type Instant, later, milliseconds } from '../units/units.js';
import { messageOf, toError } from './removal.js';

/** A disk that may have ballast. */
export interface BallastDisk {
  readonly filesystem: FilesystemName;
  /** Where the file lies. */
  readonly directory: string;
  /** What is available there now; null = it cannot be seen. */
  available(): Promise<number | null>;
}

/** What ballast needs from the world. */
export interface BallastDeps {
  readonly port: BallastPort;
  /** How much lies on each disk. */
  readonly size: Bytes;
  readonly clock: Clock;
}

/** Between two looks no more is laid than this, so that a writer who comes meanwhile is seen. */
const STEP = 4 * 1024 * 1024;
/** A pass that has nothing else to do lays for no longer than this: the next look is worth more. */
const LAY_AT_MOST = milliseconds(250);

interface Known {
  /** Whether it was looked what an earlier run has left. */
  isAdopted: boolean;
  held: Bytes;
  roomySince: Instant | null;
  /** After a failure not before this. */
  notBefore: Instant | null;
  /** The last failure as it was told: the same one is no news. */
  failure: string | null;
  began: Instant | null;
}

/** The ballast of a node: what is held where. It outlives a pass. */
export class Ballast {
  readonly #deps: BallastDeps;
  readonly #known = new Map<string, Known>();

  constructor(deps: BallastDeps) {
    this.#deps = deps;
  }

  get size(): Bytes {
    return this.#deps.size;
  }

  /** Takes over what an earlier run has left; tells it once. */
  async *adopt(disk: BallastDisk): AsyncGenerator<EvictionEvent, void> {
    const known = this.#knownOf(disk);
    if (known.isAdopted) return;
    const held = await this.#deps.port.held(disk.directory).catch(toError);
    if (held instanceof Error) {
      yield* this.#failed(disk, 'find', held, known);
      return;
    }
    known.isAdopted = true;
    known.held = held;
    if (held > 0) {
      const { filesystem, directory } = disk;
      const at = this.#deps.clock.now();
      yield { kind: 'ballast-laid', at, filesystem, directory, held, adopted: true, took: milliseconds(0) };
    }
  }

  /** Gives back what is held on a disk. Answers whether anything was. A failure is told and is not the end: it is tried again. */
  async *release(disk: BallastDisk, reason: BallastReason): AsyncGenerator<EvictionEvent, boolean> {
    yield* this.adopt(disk);
    const known = this.#knownOf(disk);
    if (known.held === 0) return false;
    const { clock, port } = this.#deps;
    const { filesystem, directory } = disk;
    const availableBefore = await disk.available();
    const began = clock.now();
    const released = await port.release(directory).catch(toError);
    if (released instanceof Error) {
      yield* this.#failed(disk, 'release', released, known);
      return false;
    }
    this.#known.set(directory, { ...NOTHING, isAdopted: true });
    const availableAfter = await disk.available();
    yield {
      kind: 'ballast-released',
      at: clock.now(),
      filesystem,
      directory,
      reason,
      held: released,
      availableBefore,
      availableAfter,
      took: elapsed(began, clock.now()),
    };
    return true;
  }

  /**
   * Lays what is missing, step by step, once there has been room for a while. `roomIn` tells how much more may be taken of so
   * much available.
   */
  async *lay(disk: BallastDisk, roomIn: (available: number) => number): AsyncGenerator<EvictionEvent, void> {
    yield* this.adopt(disk);
    const { clock, port, size } = this.#deps;
    const known = this.#knownOf(disk);
    const now = clock.now();
    const room = roomIn((await disk.available()) ?? 0);
    known.roomySince = room >= size - known.held ? (known.roomySince ?? now) : null;
    // A file that is too large, from a time with another setting, is cut at any time.
    const isDue = known.held < size ? isLayingDue(known.roomySince, now) : known.held > size * OVERSIZED;
    if (!isDue || (known.notBefore !== null && now < known.notBefore)) return;
    known.began ??= now;
    const laid = await this.#steps(disk, known, roomIn, later(now, LAY_AT_MOST));
    if (laid instanceof Error) {
      // What was got so far would only make the disk fuller.
      await port.release(disk.directory).catch(() => undefined);
      this.#known.set(disk.directory, { ...NOTHING, isAdopted: true, failure: known.failure });
      yield* this.#failed(disk, 'lay', laid, this.#knownOf(disk));
      return;
    }
    if (known.held < size) return;
    const { filesystem, directory } = disk;
    const took = elapsed(known.began, clock.now());
    known.began = null;
    known.failure = null;
    yield { kind: 'ballast-laid', at: clock.now(), filesystem, directory, held: known.held, adopted: false, took };
  }

  /** Books that there is pressure: room counts from its end on. */
  disturbed(): void {
    for (const known of this.#known.values()) known.roomySince = null;
  }

  async #steps(
    disk: BallastDisk,
    known: Known,
    roomIn: (available: number) => number,
    until: Instant,
  ): Promise<Error | null> {
    const { clock, port, size } = this.#deps;
    do {
      const next = Math.min(size, known.held + STEP);
      if (next > known.held && roomIn((await disk.available()) ?? 0) < size - known.held) return null;
      const held = await port.resize(disk.directory, bytes(next)).catch(toError);
      if (held instanceof Error) return held;
      known.held = held;
    } while (known.held < size && clock.now() < until);
    return null;
  }

  *#failed(
    { filesystem, directory }: BallastDisk,
    doing: 'find' | 'lay' | 'release',
    error: Error,
    known: Known,
  ): Generator<EvictionEvent, void> {
    const message = messageOf(error);
    const at = this.#deps.clock.now();
    known.notBefore = later(at, LAY_AGAIN_AFTER);
    if (known.failure === message) return;
    known.failure = message;
    yield { kind: 'ballast-failed', at, filesystem, directory, doing, message };
  }

  #knownOf({ directory }: BallastDisk): Known {
    const known = this.#known.get(directory) ?? { ...NOTHING };
    this.#known.set(directory, known);
    return known;
  }
}

const NOTHING: Known = {
  isAdopted: false,
  held: bytes(0),
  roomySince: null,
  notBefore: null,
  failure: null,
  began: null,
};

/** Allocation rounds up a little; more than this above its size is another size. */
const OVERSIZED = 1.1;
