import type { Instant, Milliseconds } from '../units/units.js';

/**
 * Where a pod's use of a disk lies. `layers`: writable layers of running containers; `dead-containers`: those of ended ones;
 * `deleted-open`: files without a name that its processes hold open, which no walk finds.
 */
export type UsageSource = 'layers' | 'logs' | 'emptyDirs' | 'deleted-open' | 'dead-containers';

/** One source's share of a pod's use, in the unit of the ranked signal. */
export interface UsagePart {
  readonly source: UsageSource;
  /** Null = could not be told. */
  readonly amount: number | null;
  /** Who counted: our own walk, the runtime, whose numbers may be ten seconds old, or the kernel's list of open files. */
  readonly by: 'walk' | 'runtime' | 'open-files';
  /** How old the number was when it was taken for the choice; null = nobody says. */
  readonly age: Milliseconds | null;
  /** The volumes that it is the sum of, where they are known by name. */
  readonly volumes?: readonly { readonly name: string; readonly amount: number | null }[];
  /** False when the count ended at a limit or something could not be read: a lower bound. */
  readonly isComplete: boolean;
}

/** What a pod uses of a starved resource. */
export interface PodUsage {
  /** Null = nothing at all could be told: unknown, which is neither much nor little. */
  readonly total: number | null;
  /** Empty where the resource has no sources to tell apart, as memory. */
  readonly parts: readonly UsagePart[];
}

/** How fast a pod fills the starved filesystem. */
export interface WriteRate {
  /** In the unit of the ranked signal. */
  readonly perSecond: number;
  /**
   * What tells: `growth` of its files between two walks; `processes`: the kernel's counts of what its processes dirtied;
   * `cgroup`: the counts of its control group, by which writes show when they reach the device.
   */
  readonly by: 'growth' | 'processes' | 'cgroup';
  readonly over: Milliseconds;
  readonly at: Instant;
}

/** A usage of which only the sum is told. */
export function wholeUsage(total: number | null): PodUsage {
  return { total, parts: [] };
}

/** The sum of what is known, a lower bound where a part is not; null when nothing is known. */
export function totalOf(parts: readonly UsagePart[]): number | null {
  const known = parts.flatMap(({ amount }) => amount ?? []);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
}

/** Whether some of it could not be counted, so that the sum is a lower bound. */
export function isLowerBound(parts: readonly UsagePart[]): boolean {
  return parts.some(({ amount, isComplete }) => amount === null || !isComplete);
}

/**
 * A usage above what its whole filesystem has in use cannot be true: a runtime that counts a lower layer, a sparse file of
 * petabytes. It counts as no number.
 */
export function isImpossible(total: number, inUse: number): boolean {
  return total > inUse;
}
