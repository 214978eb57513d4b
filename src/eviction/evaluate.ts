import { elapsed, type Instant } from '../units/units.js';
import { type Line, lineOf } from './line.js';
import type { Observation, Observations } from './observe.js';
import { SIGNALS, type Signal } from './signal.js';
import type { Limit, Threshold, ThresholdId } from './threshold.js';

/** When each threshold that is met now was first met without interruption. */
export type FirstMetTimes = ReadonlyMap<ThresholdId, Instant>;

/** Resolves thresholds against capacities, once per capacity: passes then compare plain numbers. */
export class LineBook {
  readonly #lines = new Map<
    ThresholdId,
    { readonly capacity: number; readonly threshold: Threshold; readonly line: Line }
  >();

  /** The line of a threshold on a filesystem or memory of that capacity. */
  lineOf(threshold: Threshold, capacity: number): Line {
    const known = this.#lines.get(threshold.id);
    if (known?.capacity === capacity && known.threshold === threshold) return known.line;
    const line = lineOf(threshold, capacity);
    this.#lines.set(threshold.id, { capacity, threshold, line });
    return line;
  }
}

/** Whether an observation is below the line (`line`) or below line plus minimum reclaim (`target`). Equality is not below. */
export function isBelow(threshold: Threshold, observation: Observation, mark: keyof Line, lines: LineBook): boolean {
  return observation.available < lines.lineOf(threshold, observation.capacity)[mark];
}

/**
 * The thresholds that an observation is below, in their order; a signal without observation meets none. Mirrors
 * `thresholdsMet` (`enforceMinReclaim` = mark `target`).
 */
export function thresholdsBelow(
  thresholds: readonly Threshold[],
  observations: Observations,
  mark: keyof Line,
  lines: LineBook,
): readonly Threshold[] {
  return thresholds.filter((threshold) => {
    const observation = observations.get(threshold.signal);
    return observation !== undefined && isBelow(threshold, observation, mark, lines);
  });
}

/** Keeps the time of thresholds that go on being met, starts those that are new, drops the rest. Mirrors `thresholdsFirstObservedAt`. */
export function firstMetTimes(thresholds: readonly Threshold[], before: FirstMetTimes, now: Instant): FirstMetTimes {
  return new Map(thresholds.map((each) => [each.id, before.get(each.id) ?? now]));
}

/** The thresholds whose grace period is over; hard ones at once. Mirrors `thresholdsMetGracePeriod`, in a stable order. */
export function pastGrace(
  thresholds: readonly Threshold[],
  firstMet: FirstMetTimes,
  now: Instant,
): readonly Threshold[] {
  return thresholds.filter((threshold) => {
    const since = firstMet.get(threshold.id);
    if (since === undefined) return false;
    return threshold.urgency.kind === 'hard' || elapsed(since, now) >= threshold.urgency.grace;
  });
}

/**
 * The thresholds whose numbers are newer than those of the previous pass: without a time, without a predecessor, or later.
 * Mirrors `thresholdsUpdatedStats`.
 */
export function withFreshNumbers(
  thresholds: readonly Threshold[],
  observations: Observations,
  previous: Observations,
): readonly Threshold[] {
  return thresholds.filter((threshold) => {
    const now = observations.get(threshold.signal);
    if (now === undefined) return false;
    const before = previous.get(threshold.signal);
    if (now.at === null || before === undefined || before.at === null) return true;
    return now.at > before.at;
  });
}

/** The first list and what of the second it lacks. Mirrors `mergeThresholds`. */
export function mergeThresholds(first: readonly Threshold[], second: readonly Threshold[]): readonly Threshold[] {
  const merged = [...first];
  for (const threshold of second) {
    if (!merged.some((each) => isSameThreshold(each, threshold))) merged.push(threshold);
  }
  return merged;
}

/** Same signal, grace and value; the minimum reclaim is not compared. Mirrors `compareThreshold`. */
export function isSameThreshold(a: Threshold, b: Threshold): boolean {
  return a.signal === b.signal && graceOf(a) === graceOf(b) && isSameLimit(a.limit, b.limit);
}

/**
 * The order in which due thresholds are served: memory first, then hard before soft, then as configured. Mirrors
 * `byEvictionPriority`, made total.
 */
export function byUrgency(thresholds: readonly Threshold[]): readonly Threshold[] {
  return thresholds.toSorted((a, b) => rank(a) - rank(b));
}

/** The thresholds whose line lies above the capacity of their signal: they can never clear. */
export function linesAboveCapacity(
  thresholds: readonly Threshold[],
  observations: Observations,
  lines: LineBook,
): readonly Threshold[] {
  return thresholds.filter((threshold) => {
    const observation = observations.get(threshold.signal);
    return observation !== undefined && lines.lineOf(threshold, observation.capacity).line > observation.capacity;
  });
}

/** Grace in milliseconds; 0 for hard thresholds. */
export function graceOf(threshold: Threshold): number {
  return threshold.urgency.kind === 'hard' ? 0 : threshold.urgency.grace;
}

function isSameLimit(a: Limit, b: Limit): boolean {
  if (a.kind === 'amount') return b.kind === 'amount' && a.quantity.nano === b.quantity.nano;
  return b.kind === 'fraction' && a.fraction === b.fraction;
}

function rank(threshold: Threshold): number {
  return (isMemory(threshold.signal) ? 0 : 2) + (threshold.urgency.kind === 'hard' ? 0 : 1);
}

function isMemory(signal: Signal): boolean {
  return SIGNALS[signal].resource === 'memory';
}
