import type { Clock } from '../../../src/ports/clock.js';
import type { PathLook } from '../../../src/ports/mounts.js';
import { bytes, count } from '../../../src/units/units.js';
import type { Truth } from '../format/steps.js';

/** What comes back on a filesystem. */
export interface Gain {
  readonly bytes: number;
  readonly inodes: number;
}

interface Due {
  readonly at: number;
  happen(): void;
}

/** The truth of the named filesystems, and what becomes true later. */
export class Disks {
  readonly #truths = new Map<string, Truth>();
  #later: Due[] = [];

  constructor(readonly clock: Clock) {}

  set(truths: Readonly<Record<string, Truth>>): void {
    this.settle();
    for (const [name, truth] of Object.entries(truths)) this.#truths.set(name, truth);
  }

  has(name: string): boolean {
    return this.#truths.has(name);
  }

  /** Has something happen when so much time has passed; at once when it is none. */
  after(delay: number, happen: () => void): Due {
    const due = { at: this.clock.now() + delay, happen };
    if (delay <= 0) happen();
    else this.#later.push(due);
    return due;
  }

  /** Has something that was to happen later happen at another time instead. Nothing when it has happened. */
  hasten(due: Due, delay: number): Due {
    if (!this.#later.includes(due)) return due;
    this.#later = this.#later.filter((each) => each !== due);
    return this.after(delay, () => {
      due.happen();
    });
  }

  /** Lets everything happen whose time has come, in order. */
  settle(): void {
    const now = this.clock.now();
    for (;;) {
      const [next] = this.#later.filter((each) => each.at <= now).toSorted((a, b) => a.at - b.at);
      if (next === undefined) return;
      this.#later = this.#later.filter((each) => each !== next);
      next.happen();
    }
  }

  /** Gives space back; never more than there is. What nobody has numbers of takes nothing. */
  give(name: string, gain: Gain): void {
    const truth = this.#truths.get(name);
    if (truth === undefined || 'error' in truth) return;
    this.#truths.set(name, {
      ...truth,
      available: risen(truth.available, gain.bytes, truth.capacity),
      inodesFree: risen(truth.inodesFree, gain.inodes, truth.inodes),
    });
  }

  /** What is available now; null where reading fails. */
  available(name: string): number | null {
    this.settle();
    const truth = this.#truths.get(name);
    return truth === undefined || 'error' in truth ? null : truth.available;
  }

  look(path: string, name: string, readOnly: boolean): PathLook {
    this.settle();
    const at = this.clock.now();
    const truth = this.#truths.get(name);
    if (truth === undefined) return { kind: 'error', path, message: 'no numbers yet', at };
    if ('error' in truth) return { kind: 'error', path, message: truth.error, at };
    return {
      kind: 'reading',
      device: name,
      available: bytes(truth.available),
      capacity: bytes(truth.capacity),
      inodes: truth.inodes === 0 ? null : { free: count(truth.inodesFree), total: count(truth.inodes) },
      readOnly,
      at,
    };
  }
}

/** Never above the total, nor below nothing; a number that was above from the beginning stays what it was told to be. */
function risen(had: number, by: number, total: number): number {
  return by < 0 ? Math.max(0, had + by) : Math.max(had, Math.min(had + by, total));
}
