import type { Instant } from '../units/units.js';
import type { PathLook } from './path-look.js';
import { POLICIES, type Policy } from './policy.js';
import { type FilesystemName, SIGNALS, type Signal } from './signal.js';

/** One signal's numbers in one look. Bytes, inodes or processes, by the signal; `available` may be negative for processes. */
export interface Observation {
  readonly signal: Signal;
  readonly available: number;
  readonly capacity: number;
  /** When the numbers were taken; null when the source does not say. */
  readonly at: Instant | null;
}

/** The observations of one look, by signal. A signal without one is unknown, never "fine". */
export type Observations = ReadonlyMap<Signal, Observation>;

/** Why a signal could not be observed. `not-measurable` is a property of the node, all others are faults. */
export type UnknownReason =
  | 'missing'
  | 'error'
  | 'hung'
  | 'no-capacity'
  | 'read-only'
  | 'not-measurable'
  | 'no-reading';

/** A signal that this look says nothing about. */
export interface UnknownSignal {
  readonly signal: Signal;
  readonly reason: UnknownReason;
  /** What was found instead, for people. */
  readonly detail: string;
}

/** A number that cannot be true and was put right. */
export interface Clamped {
  readonly signal: Signal;
  readonly available: number;
  readonly capacity: number;
}

/** What one look saw. */
export interface Sight {
  readonly observations: Observations;
  readonly unknown: readonly UnknownSignal[];
  readonly clamped: readonly Clamped[];
}

/** Available and capacity of memory or processes. */
export interface PairReading {
  readonly available: number;
  readonly capacity: number;
  readonly at: Instant | null;
}

/** What somebody else says of a filesystem, as a stats summary does: each pair of numbers is there or not. */
export interface FilesystemClaim {
  readonly kind: 'claim';
  readonly bytes: { readonly available: number; readonly capacity: number } | null;
  readonly inodes: { readonly free: number; readonly total: number } | null;
  /** Null when it does not say when that was. */
  readonly at: Instant | null;
}

/** Why there is no reading. */
export interface NoReading {
  readonly reason: Extract<UnknownReason, 'not-measurable' | 'no-reading'>;
  readonly detail: string;
}

/** The readings that one look is made from. */
export interface Readings {
  readonly filesystems: Readonly<Record<FilesystemName, PathLook | FilesystemClaim>>;
  readonly memory: PairReading | null;
  readonly allocatableMemory: PairReading | NoReading | null;
  readonly pids: PairReading | null;
}

/** How doubtful numbers are taken. */
type Doubt = Policy['eviction']['doubtfulNumbers'];

/**
 * Turns readings into observations. A filesystem that cannot be read gives no observation: that is "cannot say", never
 * pressure. Nor does one that has a capacity of 0 or is mounted read-only, unless numbers are taken as they are told. Mirrors
 * `makeSignalObservations`, which skips such signals in silence.
 */
export function observe(readings: Readings, doubt: Doubt = POLICIES.reclaimd.eviction.doubtfulNumbers): Sight {
  const observations = new Map<Signal, Observation>();
  const unknown: UnknownSignal[] = [];
  const clamped: Clamped[] = [];
  for (const signal of Object.keys(SIGNALS) as Signal[]) {
    const seen = observeOne(signal, readings, doubt);
    if ('reason' in seen) {
      unknown.push(seen);
      continue;
    }
    if (seen.available > seen.capacity && doubt === 'put-right-or-unknown') {
      clamped.push({ signal, available: seen.available, capacity: seen.capacity });
      observations.set(signal, { ...seen, available: seen.capacity });
      continue;
    }
    observations.set(signal, seen);
  }
  return { observations, unknown, clamped };
}

/**
 * Why a look counts as none at all, or null: a filesystem in it could not be read, and the policy wants all or nothing. The
 * kubelet's numbers come in one summary, which fails as a whole.
 */
export function blindnessOf(sight: Sight, policy: Policy): string | null {
  if (policy.eviction.blindSignal === 'unknown-alone') return null;
  return sight.unknown.find(({ reason }) => BLINDING.includes(reason))?.detail ?? null;
}

const BLINDING: readonly UnknownReason[] = ['missing', 'error', 'hung'];

function observeOne(signal: Signal, readings: Readings, doubt: Doubt): Observation | UnknownSignal {
  const { filesystem, unit } = SIGNALS[signal];
  if (filesystem !== null) return observeFilesystem(signal, unit, readings.filesystems[filesystem], doubt);
  const pair =
    signal === 'memory.available'
      ? readings.memory
      : signal === 'allocatableMemory.available'
        ? readings.allocatableMemory
        : readings.pids;
  if (pair === null) return { signal, reason: 'no-reading', detail: 'no numbers' };
  if ('reason' in pair) return { signal, ...pair };
  return { signal, available: pair.available, capacity: pair.capacity, at: pair.at };
}

function observeFilesystem(
  signal: Signal,
  unit: 'bytes' | 'count',
  look: PathLook | FilesystemClaim,
  doubt: Doubt,
): Observation | UnknownSignal {
  switch (look.kind) {
    case 'claim': {
      const { bytes, inodes, at } = look;
      const pair =
        unit === 'bytes' ? bytes : inodes === null ? null : { available: inodes.free, capacity: inodes.total };
      if (pair === null) return { signal, reason: 'no-reading', detail: 'no numbers' };
      if (pair.capacity === 0 && doubt === 'put-right-or-unknown') return noCapacity(signal);
      return { signal, ...pair, at };
    }
    case 'missing':
      return { signal, reason: 'missing', detail: `${look.path} does not exist` };
    case 'error':
      return { signal, reason: 'error', detail: `${look.path}: ${look.message}` };
    case 'hung':
      return { signal, reason: 'hung', detail: `${look.path} does not answer` };
    case 'reading': {
      const isPicky = doubt === 'put-right-or-unknown';
      if (look.readOnly && isPicky) return { signal, reason: 'read-only', detail: 'mounted read-only' };
      if (look.capacity === 0 && isPicky) return noCapacity(signal);
      if (unit === 'bytes') return { signal, available: look.available, capacity: look.capacity, at: look.at };
      if (look.inodes === null) return { signal, reason: 'not-measurable', detail: 'the filesystem counts no inodes' };
      return { signal, available: look.inodes.free, capacity: look.inodes.total, at: look.at };
    }
  }
}

function noCapacity(signal: Signal): UnknownSignal {
  return { signal, reason: 'no-capacity', detail: 'the filesystem reports a capacity of 0' };
}
