import { elapsed, later, milliseconds } from '../units/units.js';
import { assess, type EvictionSettings } from './assess.js';
import { type EventOf, type EvictionEvent, FILESYSTEMS } from './event.js';
import { foretold } from './foretell.js';
import type { Observations, UnknownSignal } from './observe.js';
import { stillToCome } from './outstanding.js';
import { CLEANUP_WAIT, withRemembered } from './remembered.js';
import type { FilesystemName, Signal } from './signal.js';
import type { EvictionState, EvictionUnderWay, UnknownSince } from './state.js';
import type { Sample } from './time-to-full.js';

/** An unknown signal is warned about when it has been unknown for this long; a mount that comes up late is no alarm. */
export const WARN_UNKNOWN_AFTER = milliseconds(60_000);
/** Samples kept per filesystem to tell its fill rate. */
const SAMPLES_KEPT = 16;

/** Pods remembered as told to end. */
const TOLD_KEPT = 1_000;

/** What becomes of the state when something happened. Pure; every other part of the program only reads its result. */
export function evolve(state: EvictionState, event: EvictionEvent, settings: EvictionSettings): EvictionState {
  switch (event.kind) {
    case 'observed':
      return afterLook(state, event, settings);
    case 'layout-changed':
      return { ...state, layout: event.to, layoutQuirk: event.quirk ?? null, isLayoutNew: event.from === null };
    case 'look-failed':
    case 'layout-refused':
      return state.isLayoutNew ? { ...state, isLayoutNew: false } : state;
    case 'usage-checked':
      return { ...state, usageCheckedAt: event.at };
    case 'notifiers-updated':
      return { ...state, notifiedAt: event.at };
    case 'storage-limits-checked':
      return { ...state, limitsCheckedAt: event.at };
    case 'storage-limit-served':
      return event.outcome.kind === 'failed' || event.outcome.kind === 'unverified'
        ? state
        : { ...state, toldToEnd: withTold(state.toldToEnd, event.pod.uid) };
    case 'signal-unknown-for-long':
      return { ...state, unknown: withWarned(state.unknown, event.signal) };
    case 'restored':
      return withRemembered(state, event.remembered);
    case 'eviction-decided':
      return { ...state, ending: endingOf(event) };
    case 'eviction-hastened':
      return state.evictionUnderWay?.podUid === event.pod.uid
        ? { ...state, evictionUnderWay: { ...state.evictionUnderWay, waitUntil: later(event.at, CLEANUP_WAIT) } }
        : state;
    case 'kill-outstanding':
      return {
        ...state,
        ending: null,
        helpless: null,
        toldToEnd: withTold(state.toldToEnd, event.pod.uid),
        evictionUnderWay: underWay(event, state.evictionUnderWay, false),
      };
    case 'pod-killed':
      // The same pod goes again when the runtime is back: to spare it would cost another pod its life.
      if (event.outcome.kind === 'unverified') return untold(state, event.pod.uid);
      if (event.outcome.kind === 'failed') {
        return {
          ...untold(state, event.pod.uid),
          killFailed: new Map([...[...state.killFailed].slice(1 - TOLD_KEPT), [event.pod.uid, event.at]]),
        };
      }
      return {
        ...state,
        helpless: null,
        ending: null,
        toldToEnd: withTold(state.toldToEnd, event.pod.uid),
        evictionUnderWay: underWay(event, state.evictionUnderWay, event.outcome.kind === 'gone'),
      };
    case 'eviction-measured':
      return {
        ...state,
        evictionUnderWay: null,
        seriesEnded:
          event.endsSeries && event.availableAfter !== null
            ? { signal: event.signal, available: event.availableAfter, missing: event.missing }
            : null,
      };
    case 'will-be-full':
      return {
        ...state,
        toldForecasts: new Map([
          ...state.toldForecasts,
          [event.signal, { timeToFull: event.forecast.timeToFull, lastAt: event.at }],
        ]),
      };
    case 'fills-no-more':
      return {
        ...state,
        toldForecasts: new Map([...state.toldForecasts].filter(([signal]) => signal !== event.signal)),
      };
    case 'collecting-ahead':
      return { ...state, collectedAheadAt: new Map([...state.collectedAheadAt, [event.signal, event.at]]) };
    case 'helpless':
      return { ...state, helpless: event.reason };
    case 'threshold-cleared':
    case 'line-above-capacity':
      return { ...state, helpless: null };
    case 'layout-unknown':
    case 'notifier-failed':
    case 'threshold-served':
    case 'storage-limit-exceeded':
    case 'image-path-fallback':
    case 'signal-unknown':
    case 'signal-known':
    case 'available-above-capacity':
    case 'threshold-met':
    case 'condition-on':
    case 'condition-off':
    case 'reclaim-started':
    case 'reclaim-planned':
    case 'removed':
    case 'removal-failed':
    case 'removal-skipped':
    case 'batch-measured':
    case 'image-reference-unresolved':
    case 'protect-pattern-unused':
    case 'image-came-back':
    case 'protected-images-hold-space':
    case 'space-not-freed':
    case 'list-failed':
    case 'reclaim-finished':
    case 'would-remove':
    case 'would-evict':
    case 'writer-goes-first':
    case 'pod-lingers':
    case 'stop-hangs':
    case 'usage-impossible':
    case 'ballast-laid':
    case 'ballast-released':
    case 'ballast-failed':
    case 'store-trouble':
    case 'store-mended':
    case 'kubelet-beside':
    case 'runtime-lost':
    case 'runtime-back':
    case 'warning':
    case 'pass-failed':
      return state;
  }
}

function endingOf(event: EventOf<'eviction-decided'>): EvictionState['ending'] {
  const { uid, label } = event.pod;
  const { available } = event.observation;
  return {
    podUid: uid,
    podLabel: label,
    signal: event.threshold.signal,
    availableBefore: available,
    expected: event.ranking.find((each) => each.uid === uid)?.usage ?? null,
    decidedAt: event.at,
    grace: event.grace,
  };
}

/** The account of an eviction, with what is still to come from another one that it was sent after. */
function underWay(
  event: EventOf<'pod-killed' | 'kill-outstanding'>,
  before: EvictionState['evictionUnderWay'],
  isGone: boolean,
): EvictionUnderWay {
  const { pod, signal, availableBefore, expected, waitUntil } = event;
  const isSame = before?.podUid === pod.uid;
  const ofOthers =
    before === null || before.signal !== signal
      ? 0
      : isSame
        ? (before.alsoExpected ?? 0)
        : (stillToCome(before, availableBefore) ?? 0);
  return {
    podUid: pod.uid,
    podLabel: pod.label,
    signal,
    availableBefore,
    expected,
    ...(ofOthers > 0 ? { alsoExpected: ofOthers } : {}),
    killedAt: isSame ? before.killedAt : event.at,
    waitUntil,
    isGone,
  };
}

/** As if the pod had not been told to end. */
function untold(state: EvictionState, uid: string): EvictionState {
  return {
    ...state,
    ending: null,
    toldToEnd: new Set([...state.toldToEnd].filter((each) => each !== uid)),
    evictionUnderWay: state.evictionUnderWay?.podUid === uid ? null : state.evictionUnderWay,
  };
}

function withTold(told: EvictionState['toldToEnd'], uid: string): EvictionState['toldToEnd'] {
  return new Set([...[...told].slice(1 - TOLD_KEPT), uid]);
}

function afterLook(state: EvictionState, event: EventOf<'observed'>, settings: EvictionSettings): EvictionState {
  const { sight, at } = event;
  const judged = assess(state, sight.observations, at, settings);
  return {
    ...state,
    lookedAt: at,
    layout: event.layout,
    isLayoutNew: false,
    firstMet: judged.firstMet,
    unresolved: judged.unresolved,
    pressing: judged.pressing,
    conditionTimes: judged.conditionTimes,
    conditions: judged.conditions,
    observations: sight.observations,
    unknown: unknownSignals(state, sight.unknown, event),
    clamped: new Set(sight.clamped.map((each) => each.signal)),
    setAside: new Set(judged.setAside.map((each) => each.id)),
    samples: withSamples(state.samples, sight.observations),
    ...(settings.policy.eviction.forecasts === 'told' ? foretold(state, sight.observations, event.layout, at) : {}),
    seriesEnded: hasMoved(state, sight.observations) ? null : state.seriesEnded,
  };
}

function unknownSignals(
  state: EvictionState,
  unknown: readonly UnknownSignal[],
  event: EventOf<'observed'>,
): ReadonlyMap<Signal, UnknownSince> {
  return new Map(
    unknown.map(({ signal, reason, detail }) => {
      const row = state.unknown.get(signal);
      // What cannot be measured here is no fault; a fault that follows it begins now.
      const before = row?.reason === 'not-measurable' && reason !== row.reason ? undefined : row;
      return [signal, { reason, detail, since: before?.since ?? event.at, warned: before?.warned ?? false }];
    }),
  );
}

function withWarned(unknown: EvictionState['unknown'], signal: Signal): EvictionState['unknown'] {
  const row = unknown.get(signal);
  return row === undefined ? unknown : new Map([...unknown, [signal, { ...row, warned: true }]]);
}

/** Whether the warning about a signal that cannot be seen is due. */
export function isWarningDue(row: UnknownSince, event: { readonly at: EvictionEvent['at'] }): boolean {
  return !row.warned && row.reason !== 'not-measurable' && elapsed(row.since, event.at) >= WARN_UNKNOWN_AFTER;
}

function withSamples(before: EvictionState['samples'], observations: Observations): EvictionState['samples'] {
  const samples = new Map<FilesystemName, readonly Sample[]>(before);
  for (const filesystem of FILESYSTEMS) {
    const seen = observations.get(`${filesystem}.available`);
    if (seen === undefined || seen.at === null) continue;
    const kept = samples.get(filesystem) ?? [];
    if (kept.at(-1)?.at === seen.at) continue;
    samples.set(filesystem, [...kept.slice(1 - SAMPLES_KEPT), { at: seen.at, available: seen.available }]);
  }
  return samples;
}

/** An ended series is forgotten when the free space has moved by a tenth of what was missing, in either direction. */
function hasMoved(state: EvictionState, observations: Observations): boolean {
  const { seriesEnded } = state;
  if (seriesEnded === null) return true;
  const seen = observations.get(seriesEnded.signal);
  return seen !== undefined && Math.abs(seen.available - seriesEnded.available) * 10 >= seriesEnded.missing;
}
