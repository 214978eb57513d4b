import type { Instant, Milliseconds } from '../units/units.js';
import { conditionsOf, conditionTimes, reportedConditions } from './conditions.js';
import {
  byUrgency,
  type FirstMetTimes,
  firstMetTimes,
  type LineBook,
  linesAboveCapacity,
  mergeThresholds,
  pastGrace,
  thresholdsBelow,
  withFreshNumbers,
} from './evaluate.js';
import type { Observations } from './observe.js';
import type { Policy } from './policy.js';
import type { NodeCondition } from './signal.js';
import type { EvictionState } from './state.js';
import type { Threshold, ThresholdId } from './threshold.js';

/** What does not change from pass to pass. */
export interface EvictionSettings {
  /** Thresholds in force, containerfs copies included. */
  readonly thresholds: readonly Threshold[];
  /** Those of the pass in which the layout is told, where that pass goes by others. Absent = the same. */
  readonly ofFirstPass?: readonly Threshold[];
  readonly transitionPeriod: Milliseconds;
  readonly policy: Policy;
  readonly lines: LineBook;
  /** Garbage is collected ahead of any line when a filesystem will be full within this; null or absent = never. */
  readonly fullWithin?: Milliseconds | null;
}

/** What one look means, given what came before. */
export interface Assessment {
  /** Below its line now, or still inside the reclaim band of an earlier pass. */
  readonly met: readonly Threshold[];
  /** Of these, the ones whose grace period is over. */
  readonly due: readonly Threshold[];
  /** Of these, the ones with new numbers, in the order in which they are served. */
  readonly fresh: readonly Threshold[];
  /** Lines above the capacity, set aside. */
  readonly setAside: readonly Threshold[];
  /** Past their grace and not cleared: the due ones, and in the reclaimd profile those that were due and cannot be seen. */
  readonly unresolved: readonly ThresholdId[];
  /** Met since their target was last measured. */
  readonly pressing: ReadonlySet<ThresholdId>;
  readonly firstMet: FirstMetTimes;
  readonly conditionTimes: ReadonlyMap<NodeCondition, Instant>;
  readonly conditions: readonly NodeCondition[];
}

/**
 * Judges one look. Pure: the same state, observations and time give the same answer. Mirrors steps 7 to 13 of the kubelet's
 * `synchronize`.
 */
export function assess(
  state: EvictionState,
  observations: Observations,
  now: Instant,
  settings: EvictionSettings,
): Assessment {
  const { policy, lines } = settings;
  const setAside =
    policy.eviction.lineAboveCapacity === 'set-aside' ? stillAboveCapacity(state, settings, observations) : [];
  const thresholds = countingNow(state, settings).filter((each) => !setAside.includes(each));
  const below = thresholdsBelow(thresholds, observations, 'line', lines);
  const known = [...thresholds, ...heldBeside(thresholds, settings)];
  const unresolved = known.filter((each) => state.unresolved.includes(each.id));
  const met = mergeThresholds(below, thresholdsBelow(unresolved, observations, 'target', lines));
  // What was due and cannot be seen is neither met nor cleared: seen again short of its target, it is due at once.
  const unseen =
    policy.eviction.conditionEnds === 'target' ? unresolved.filter((each) => !observations.has(each.signal)) : [];
  const firstMet = firstMetTimes([...met, ...unseen], state.firstMet, now);
  const due = pastGrace(met, firstMet, now);
  // Where one alone is served, the configured order chooses it; where all are, those below their line come before their bands.
  const inOrder = policy.eviction.filesystemsPerPass === 'first' ? known.filter((each) => due.includes(each)) : due;
  const pressing = stillPressing(state, below, thresholds, observations, lines);
  const holding = conditionsOf(policy.eviction.conditionEnds === 'target' ? pressing : met);
  const times = conditionTimes(state.conditionTimes, holding, now);
  return {
    met,
    due,
    fresh: byUrgency(withFreshNumbers(inOrder, observations, state.observations)),
    setAside,
    unresolved: [...due, ...unseen].map((each) => each.id),
    pressing: new Set(pressing.map((each) => each.id)),
    firstMet,
    conditionTimes: times,
    conditions: reportedConditions(
      times,
      settings.transitionPeriod,
      now,
      policy.eviction.zeroTransition === 'what-holds-now',
    ),
  };
}

/** The thresholds that this pass goes by. */
function countingNow(state: EvictionState, settings: EvictionSettings): readonly Threshold[] {
  const { thresholds, ofFirstPass = thresholds, policy } = settings;
  return state.isLayoutNew && policy.eviction.derivedThresholds === 'from-second-pass' ? ofFirstPass : thresholds;
}

/** Entries that counted in the first pass alone. The kubelet holds those that were due, as it holds any other. */
function heldBeside(thresholds: readonly Threshold[], settings: EvictionSettings): readonly Threshold[] {
  const { ofFirstPass = [], policy } = settings;
  if (policy.eviction.derivedThresholds === 'at-once') return [];
  const ids = new Set([...thresholds, ...settings.thresholds].map(({ id }) => id));
  return ofFirstPass.filter(({ id }) => !ids.has(id));
}

/** The thresholds whose line lies above the capacity; one that cannot be seen is what it was. */
function stillAboveCapacity(
  state: EvictionState,
  { thresholds, lines }: EvictionSettings,
  observations: Observations,
): readonly Threshold[] {
  const above = new Set(linesAboveCapacity(thresholds, observations, lines));
  return thresholds.filter(
    (each) => above.has(each) || (state.setAside.has(each.id) && !observations.has(each.signal)),
  );
}

/**
 * The thresholds that were met and whose target has not been measured since; one that cannot be seen stays. They keep a
 * condition alive where one target serves for everything.
 */
function stillPressing(
  state: EvictionState,
  below: readonly Threshold[],
  thresholds: readonly Threshold[],
  observations: Observations,
  lines: LineBook,
): readonly Threshold[] {
  const belowTarget = new Set(thresholdsBelow(thresholds, observations, 'target', lines));
  return thresholds.filter(
    (each) =>
      below.includes(each) ||
      (state.pressing.has(each.id) && (belowTarget.has(each) || !observations.has(each.signal))),
  );
}
