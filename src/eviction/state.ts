import type { Instant, Milliseconds } from '../units/units.js';
import type { ConditionTimes } from './conditions.js';
import type { FirstMetTimes } from './evaluate.js';
import type { LayoutQuirk } from './kubelet-quirks.js';
import type { FsLayout } from './layout.js';
import type { Observation, UnknownReason } from './observe.js';
import type { FilesystemName, NodeCondition, Signal } from './signal.js';
import type { ThresholdId } from './threshold.js';
import type { Forecast, Sample } from './time-to-full.js';

/** A signal that cannot be observed at present. */
export interface UnknownSince {
  readonly reason: UnknownReason;
  readonly detail: string;
  readonly since: Instant;
  /** Whether the warning that is due after a minute was given. */
  readonly warned: boolean;
}

/** What was last worked out about when a filesystem will be full. */
export interface KnownForecast {
  readonly at: Instant;
  readonly forecast: Forecast | null;
}

/** A forecast that was told. */
export interface ToldForecast {
  readonly timeToFull: Milliseconds;
  /** When there last was one. */
  readonly lastAt: Instant;
}

/** A pod that was told to end and whose space is still awaited. */
export interface EvictionUnderWay {
  readonly podUid: string;
  readonly podLabel: string;
  readonly signal: Signal;
  /** What was available when the kill was sent. */
  readonly availableBefore: number;
  /** What its end should bring, in the signal's unit; null when nobody knows. */
  readonly expected: number | null;
  /** What was still to come from earlier evictions when this one was sent; absent = nothing. */
  readonly alsoExpected?: number;
  readonly killedAt: Instant;
  /** Until when its space is waited for: 30 s after its grace ran out, as the kubelet waits for cleanup. */
  readonly waitUntil: Instant;
  /** Whether it is known to be gone. */
  readonly isGone: boolean;
}

/** A pod that was chosen and is being told to end: until it is known what became of that, as far as we know. */
export interface PodEnding {
  readonly podUid: string;
  readonly podLabel: string;
  readonly signal: Signal;
  readonly availableBefore: number;
  readonly expected: number | null;
  readonly decidedAt: Instant;
  readonly grace: Milliseconds;
}

/** What has become of us: a fold of events by `evolve`. Plain data. */
export interface EvictionState {
  /** Null before the first look. */
  readonly lookedAt: Instant | null;
  readonly layout: FsLayout | null;
  /** What else the kubelet makes of that layout; null in the reclaimd profile. */
  readonly layoutQuirk: LayoutQuirk | null;
  /** Whether the layout was first told in the pass that goes on: thresholds that it gave containerfs may not count yet. */
  readonly isLayoutNew: boolean;
  /** When those who have the kernel watch memory were last given new numbers; null = never. */
  readonly notifiedAt: Instant | null;
  /** When pods were last held against the storage limits of their own; null = not yet. */
  readonly limitsCheckedAt: Instant | null;
  readonly firstMet: FirstMetTimes;
  /** Thresholds past their grace that had not cleared after the last pass; in the reclaim band they stay met. */
  readonly unresolved: readonly ThresholdId[];
  /** Thresholds that were met and whose target has not been measured since. */
  readonly pressing: ReadonlySet<ThresholdId>;
  readonly conditionTimes: ConditionTimes;
  readonly conditions: readonly NodeCondition[];
  readonly observations: ReadonlyMap<Signal, Observation>;
  readonly unknown: ReadonlyMap<Signal, UnknownSince>;
  readonly clamped: ReadonlySet<Signal>;
  readonly setAside: ReadonlySet<ThresholdId>;
  /** When usage was last read without pressure; null = never. */
  readonly usageCheckedAt: Instant | null;
  readonly samples: ReadonlyMap<FilesystemName, readonly Sample[]>;
  /** What each filesystem signal was over the last hour, thinned out with age. */
  readonly trends: ReadonlyMap<Signal, readonly Sample[]>;
  readonly forecasts: ReadonlyMap<Signal, KnownForecast>;
  readonly toldForecasts: ReadonlyMap<Signal, ToldForecast>;
  /** When garbage was last collected ahead of a full filesystem. */
  readonly collectedAheadAt: ReadonlyMap<Signal, Instant>;
  /** Null once it is known how the end of the pod went. */
  readonly ending: PodEnding | null;
  readonly evictionUnderWay: EvictionUnderWay | null;
  /** Uids of pods that were told to end: never chosen again, gone or not. The newest thousand. */
  readonly toldToEnd: ReadonlySet<string>;
  /** Pods whose end failed outright, with the time: others are considered before they are tried again. */
  readonly killFailed: ReadonlyMap<string, Instant>;
  /** The available amount at which a series of evictions ended for having brought nothing; null while none has. */
  readonly seriesEnded: { readonly signal: Signal; readonly available: number; readonly missing: number } | null;
  /** The reason why nothing helps, as last said; null while something does. */
  readonly helpless: string | null;
}

/** The state of a manager without a past. */
export const INITIAL_STATE: EvictionState = {
  lookedAt: null,
  layout: null,
  layoutQuirk: null,
  isLayoutNew: false,
  notifiedAt: null,
  limitsCheckedAt: null,
  firstMet: new Map(),
  unresolved: [],
  pressing: new Set(),
  conditionTimes: new Map(),
  conditions: [],
  observations: new Map(),
  unknown: new Map(),
  clamped: new Set(),
  setAside: new Set(),
  usageCheckedAt: null,
  samples: new Map(),
  trends: new Map(),
  forecasts: new Map(),
  toldForecasts: new Map(),
  collectedAheadAt: new Map(),
  ending: null,
  evictionUnderWay: null,
  toldToEnd: new Set(),
  killFailed: new Map(),
  seriesEnded: null,
  helpless: null,
};
