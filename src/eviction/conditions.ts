import { elapsed, type Instant, type Milliseconds } from '../units/units.js';
import { type NodeCondition, SIGNALS } from './signal.js';
import type { Threshold } from './threshold.js';

/** When each condition was last seen to hold. */
export type ConditionTimes = ReadonlyMap<NodeCondition, Instant>;

/** The conditions that a list of thresholds raises, without doubles, in the kubelet's order. */
export function conditionsOf(thresholds: readonly Threshold[]): readonly NodeCondition[] {
  return [...new Set(thresholds.map((each) => SIGNALS[each.signal].condition))];
}

/** Whether a list of conditions, also of kinds that are nobody's here, has one. Mirrors `hasNodeCondition`. */
export function hasCondition(conditions: readonly string[], condition: string): boolean {
  return conditions.includes(condition);
}

/** Sets the time of the conditions that hold now and keeps the others. Mirrors `nodeConditionsLastObservedAt`. */
export function conditionTimes(
  before: ConditionTimes,
  holding: readonly NodeCondition[],
  now: Instant,
): ConditionTimes {
  return new Map([...before, ...holding.map((condition) => [condition, now] as const)]);
}

/**
 * The conditions to report: those that held less than the transition period ago, strictly. Mirrors
 * `nodeConditionsObservedSince`, where a period of zero reports nothing; with `zeroReportsHolding` those that hold right now
 * are reported even then.
 */
export function reportedConditions(
  times: ConditionTimes,
  transitionPeriod: Milliseconds,
  now: Instant,
  zeroReportsHolding: boolean,
): readonly NodeCondition[] {
  return [...times]
    .filter(([, at]) => elapsed(at, now) < transitionPeriod || (zeroReportsHolding && at === now))
    .map(([condition]) => condition);
}
