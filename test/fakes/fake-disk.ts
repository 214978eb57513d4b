import type { FilesystemReading } from '../../src/eviction/path-look.js';
import type { Clock } from '../../src/ports/clock.js';
import { bytes, count } from '../../src/units/units.js';

/** What something takes on a disk. */
export interface Extent {
  readonly bytes: number;
  readonly inodes: number;
}

/** The size of a disk; `inodes` null = it counts none. */
export interface DiskSize {
  readonly bytes: number;
  readonly inodes: number | null;
}

/** A disk that only counts. What is given back late is free when its time has come. */
export class FakeDisk {
  readOnly = false;
  readonly #used = { bytes: 0, inodes: 0 };
  #coming: { readonly extent: Extent; readonly at: number }[] = [];

  constructor(
    readonly device: string,
    readonly size: DiskSize,
    readonly clock: Clock,
  ) {}

  take(extent: Extent): void {
    this.#used.bytes += extent.bytes;
    this.#used.inodes += extent.inodes;
  }

  give(extent: Extent, lateBy = 0): void {
    if (lateBy > 0) {
      this.#coming.push({ extent, at: this.clock.now() + lateBy });
      return;
    }
    this.#used.bytes -= extent.bytes;
    this.#used.inodes -= extent.inodes;
  }

  /** Makes free at once what was given back and would come later. */
  freeWhatIsLate(): void {
    const late = this.#coming;
    this.#coming = [];
    for (const { extent } of late) this.give(extent);
  }

  get freeBytes(): number {
    this.#settle();
    return Math.max(0, this.size.bytes - this.#used.bytes);
  }

  get freeInodes(): number {
    this.#settle();
    return Math.max(0, (this.size.inodes ?? 0) - this.#used.inodes);
  }

  /** What was given back and is not free yet. */
  get coming(): Extent {
    this.#settle();
    return this.#coming.reduce(
      (sum, { extent }) => ({ bytes: sum.bytes + extent.bytes, inodes: sum.inodes + extent.inodes }),
      { bytes: 0, inodes: 0 },
    );
  }

  /** Takes or gives until so many bytes are free. */
  fillUntilFree(free: number): void {
    this.#settle();
    this.#used.bytes = this.size.bytes - free;
  }

  reading(): FilesystemReading {
    return {
      kind: 'reading',
      device: this.device,
      available: bytes(this.freeBytes),
      capacity: bytes(this.size.bytes),
      inodes: this.size.inodes === null ? null : { free: count(this.freeInodes), total: count(this.size.inodes) },
      readOnly: this.readOnly,
      at: this.clock.now(),
    };
  }

  #settle(): void {
    if (this.#coming.length === 0) return;
    const now = this.clock.now();
    const due = this.#coming.filter((each) => each.at <= now);
    this.#coming = this.#coming.filter((each) => each.at > now);
    for (const { extent } of due) this.give(extent);
  }
}
