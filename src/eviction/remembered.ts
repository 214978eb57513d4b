import { type Instant, later, type Milliseconds, milliseconds } from '../units/units.js';
import type { NodeCondition } from './signal.js';
import type { EvictionState, EvictionUnderWay } from './state.js';
import type { ThresholdId } from './threshold.js';

/** What a manager remembers of its earlier life: a part of the state, its times those of this process. */
export interface Remembered {
  /** When each condition was last seen to hold. */
  readonly conditionTimes: ReadonlyMap<NodeCondition, Instant>;
  /** Those that were reported. */
  readonly conditions: readonly NodeCondition[];
  readonly firstMet: ReadonlyMap<ThresholdId, Instant>;
  readonly unresolved: readonly ThresholdId[];
  readonly pressing: readonly ThresholdId[];
  readonly ending: EvictionState['ending'];
  readonly evictionUnderWay: EvictionState['evictionUnderWay'];
  readonly toldToEnd: readonly string[];
  readonly killFailed: ReadonlyMap<string, Instant>;
  readonly seriesEnded: EvictionState['seriesEnded'];
}

/** A past of which nothing is known. */
export const NOTHING_REMEMBERED: Remembered = {
  conditionTimes: new Map(),
  conditions: [],
  firstMet: new Map(),
  unresolved: [],
  pressing: [],
  ending: null,
  evictionUnderWay: null,
  toldToEnd: [],
  killFailed: new Map(),
  seriesEnded: null,
};

/** How long after a pod's grace its space is still waited for; the kubelet's wait for cleanup. */
export const CLEANUP_WAIT: Milliseconds = milliseconds(30_000);

/**
 * The state with what is remembered. What this life has seen itself counts more; a memory that comes after the first look, from a
 * slow disk, adds to it what a look cannot know.
 */
export function withRemembered(state: EvictionState, remembered: Remembered): EvictionState {
  const isFirst = state.lookedAt === null;
  const { ending } = remembered;
  return {
    ...state,
    conditionTimes: latest(remembered.conditionTimes, state.conditionTimes),
    conditions: isFirst ? [...new Set([...remembered.conditions, ...state.conditions])] : state.conditions,
    firstMet: new Map(
      [...remembered.firstMet]
        .filter(([id]) => isFirst || state.firstMet.has(id))
        .concat([...state.firstMet].filter(([id, at]) => !((remembered.firstMet.get(id) ?? at) < at))),
    ),
    unresolved: isFirst ? [...new Set([...remembered.unresolved, ...state.unresolved])] : state.unresolved,
    pressing: isFirst ? new Set([...remembered.pressing, ...state.pressing]) : state.pressing,
    evictionUnderWay:
      state.evictionUnderWay ?? remembered.evictionUnderWay ?? (ending === null ? null : brokenOff(ending)),
    toldToEnd: new Set([...remembered.toldToEnd, ...(ending === null ? [] : [ending.podUid]), ...state.toldToEnd]),
    killFailed: new Map([...remembered.killFailed, ...state.killFailed]),
    seriesEnded: state.seriesEnded ?? remembered.seriesEnded,
  };
}

/** An end that broke off with the process: the pod was told, or was about to be, and what became of it is not known. */
function brokenOff({
  podUid,
  podLabel,
  signal,
  availableBefore,
  expected,
  decidedAt,
  grace,
}: NonNullable<EvictionState['ending']>): EvictionUnderWay {
  return {
    podUid,
    podLabel,
    signal,
    availableBefore,
    expected,
    killedAt: decidedAt,
    waitUntil: later(later(decidedAt, grace), CLEANUP_WAIT),
    isGone: false,
  };
}

function latest(
  before: EvictionState['conditionTimes'],
  own: EvictionState['conditionTimes'],
): EvictionState['conditionTimes'] {
  return new Map([...before, ...[...own].filter(([condition, at]) => !((before.get(condition) ?? at) > at))]);
}
