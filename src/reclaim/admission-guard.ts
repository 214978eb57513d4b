import {
  type DiskReserve,
  nextOutOfDisk,
  type OutOfDisk,
  type RoomAnswer,
  reserveFault,
  roomFor,
  type SpaceStatistics,
} from '../gc/disk-space.js';
import type { Clock } from '../ports/clock.js';
import { type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import { messageOf } from './removal.js';

/** The two filesystems that are guarded: that of images and writable layers, and the root. */
export type GuardedFilesystem = 'runtime' | 'root';

/** What the guard needs from the world. */
export interface AdmissionGuardDeps {
  /** Rejects when the filesystem cannot be asked. */
  statistics(filesystem: GuardedFilesystem): Promise<SpaceStatistics>;
  readonly clock: Clock;
  readonly reserve: DiskReserve;
  /** How long OutOfDisk stays after its last change. */
  readonly transition: Milliseconds;
}

/** Whether a new pod may come. */
export interface Admission {
  readonly admitted: boolean;
  readonly answers: Readonly<Record<GuardedFilesystem, RoomAnswer>>;
  /** The node condition after this look. */
  readonly outOfDisk: OutOfDisk;
}

/** Statistics serve for so long, counted from when they were fetched; failures are not kept. */
const FRESH_FOR = milliseconds(2_000);

/**
 * Refuses new pods while a filesystem has less free than is held back. Deletes nothing. What cannot be told counts as room.
 * Mirrors the disk space manager that the kubelet had before it evicted.
 */
export class AdmissionGuard {
  readonly #deps: AdmissionGuardDeps;
  readonly #seen = new Map<GuardedFilesystem, { readonly at: Instant; readonly statistics: SpaceStatistics }>();
  #outOfDisk: OutOfDisk;

  /** @throws RangeError when a reserve is negative */
  constructor(deps: AdmissionGuardDeps) {
    const fault = reserveFault(deps.reserve);
    if (fault !== null) throw new RangeError(fault);
    this.#deps = deps;
    this.#outOfDisk = { status: 'unknown', since: deps.clock.now() };
  }

  /** Whether a new pod may come now. */
  async admit(): Promise<Admission> {
    const [runtime, root] = [await this.query('runtime'), await this.query('root')];
    const isOut = runtime.kind === 'no-room' || root.kind === 'no-room';
    this.#outOfDisk = nextOutOfDisk(this.#outOfDisk, isOut, this.#deps.clock.now(), this.#deps.transition);
    return { admitted: !isOut, answers: { runtime, root }, outOfDisk: this.#outOfDisk };
  }

  /** Whether one filesystem has room. */
  async query(filesystem: GuardedFilesystem): Promise<RoomAnswer> {
    const { reserve } = this.#deps;
    try {
      const megabytes = filesystem === 'runtime' ? reserve.runtimeFreeMegabytes : reserve.rootFreeMegabytes;
      return roomFor(await this.#statistics(filesystem), megabytes);
    } catch (error) {
      return { kind: 'doubt', why: 'statistics-failed', message: messageOf(error) };
    }
  }

  async #statistics(filesystem: GuardedFilesystem): Promise<SpaceStatistics> {
    const now = this.#deps.clock.now();
    const known = this.#seen.get(filesystem);
    if (known !== undefined && now - known.at < FRESH_FOR) return known.statistics;
    const statistics = await this.#deps.statistics(filesystem);
    this.#seen.set(filesystem, { at: now, statistics });
    return statistics;
  }
}
