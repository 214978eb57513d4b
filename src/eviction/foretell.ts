import { parseQuantity } from '../units/quantity.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import type { EvictionSettings } from './assess.js';
import type { Pressed } from './decide.js';
import type { EventOf, EvictionEvent } from './event.js';
import { deviceUnder, type FsLayout } from './layout.js';
import type { Observations } from './observe.js';
import { ALL_SIGNALS, type FilesystemName, SIGNALS, type Signal } from './signal.js';
import type { EvictionState, KnownForecast } from './state.js';
import { reclaimSteps } from './steps.js';
import { type Forecast, forecast, type Sample, withSample } from './time-to-full.js';

/** A forecast is worked out again after this: looks may come ten times a second. */
const WORKED_OUT_EVERY = milliseconds(1_000);
/** A forecast is worth telling when the filesystem will be full within this. */
const TOLD_WITHIN = milliseconds(3_600_000);
/** Without any forecast for so long it fills no more. */
const OVER_AFTER = milliseconds(120_000);
/** Garbage is collected ahead of a full filesystem at most this often: what a collection found is all there was. */
const AHEAD_AT_MOST_EVERY = milliseconds(60_000);
/** What is collected ahead keeps the filesystem going for so much longer than was asked for, so that it is not asked again at once. */
const AHEAD_MARGIN = 1.25;
/** Ahead of time no more than this share of the capacity is freed: a rate that would fill all of it in minutes is a burst. */
const AHEAD_SHARE = 0.25;

/** The trends with what was just seen, and what follows from them. */
export function foretold(
  state: EvictionState,
  observations: Observations,
  layout: FsLayout,
  now: Instant,
): Pick<EvictionState, 'trends' | 'forecasts' | 'toldForecasts'> {
  const trends = new Map<Signal, readonly Sample[]>();
  const forecasts = new Map<Signal, KnownForecast>();
  for (const signal of ownSignals(layout)) {
    const seen = observations.get(signal);
    const before = state.trends.get(signal) ?? [];
    const trend =
      seen === undefined || seen.at === null ? before : withSample(before, { at: seen.at, available: seen.available });
    trends.set(signal, trend);
    const known = state.forecasts.get(signal);
    const isFresh = known !== undefined && now >= known.at && elapsed(known.at, now) < WORKED_OUT_EVERY;
    forecasts.set(signal, isFresh ? known : { at: now, forecast: seen === undefined ? null : forecast(trend) });
  }
  const toldForecasts = new Map(
    [...state.toldForecasts].map(([signal, told]) => {
      const lasts = (forecasts.get(signal)?.forecast ?? null) !== null;
      return [signal, lasts ? { ...told, lastAt: now } : told];
    }),
  );
  return { trends, forecasts, toldForecasts };
}

/** The signals of filesystems, each device once. */
function ownSignals(layout: FsLayout): readonly Signal[] {
  return ALL_SIGNALS.filter((signal) => {
    const { filesystem } = SIGNALS[signal];
    return filesystem !== null && deviceUnder(filesystem, layout) === filesystem;
  });
}

/** What is news about when filesystems will be full. */
export function forecastChanges(after: EvictionState, at: Instant): readonly EvictionEvent[] {
  return [...after.forecasts].flatMap(([signal, { forecast: seen }]): readonly EvictionEvent[] => {
    const told = after.toldForecasts.get(signal);
    const observation = after.observations.get(signal);
    if (seen !== null && observation !== undefined && seen.timeToFull <= (told?.timeToFull ?? 2 * TOLD_WITHIN) / 2) {
      return [{ kind: 'will-be-full', at, signal, observation, forecast: seen }];
    }
    const isOver = seen === null && told !== undefined && elapsed(told.lastAt, at) >= OVER_AFTER;
    return isOver ? [{ kind: 'fills-no-more', at, signal }] : [];
  });
}

/** Garbage to collect before any line is met, and why. */
export interface Ahead {
  readonly told: Omit<EventOf<'collecting-ahead'>, 'at'>;
  readonly pressed: Pressed;
}

/**
 * Where the operator asked for it, what to collect ahead: for each device that will be full within `fullWithin` and that no
 * line presses. Pods have no part in it.
 */
export function collectionsAhead(
  state: EvictionState,
  pressed: readonly Pressed[],
  layout: FsLayout,
  now: Instant,
  settings: EvictionSettings,
): readonly Ahead[] {
  const { fullWithin = null } = settings;
  if (fullWithin === null) return [];
  const served = pressed.flatMap((each) => SIGNALS[each.threshold.signal].filesystem ?? []);
  return [...state.forecasts].flatMap(([signal, { forecast: seen }]) => {
    const { filesystem } = SIGNALS[signal];
    const last = state.collectedAheadAt.get(signal);
    if (seen === null || seen.timeToFull > fullWithin) return [];
    if (last !== undefined && elapsed(last, now) < AHEAD_AT_MOST_EVERY) return [];
    if (filesystem === null || served.some((each) => sameDevice(each, filesystem, layout))) return [];
    const steps = reclaimSteps(signal, layout, settings.policy);
    const goal = goalAhead(state, signal, seen, fullWithin);
    if (steps.length === 0 || goal === null) return [];
    return [
      {
        told: { kind: 'collecting-ahead', signal, forecast: seen, within: fullWithin },
        pressed: aheadOf(signal, goal, steps),
      },
    ];
  });
}

function sameDevice(one: FilesystemName, other: FilesystemName, layout: FsLayout): boolean {
  return deviceUnder(one, layout) === deviceUnder(other, layout);
}

/** As much as lasts for the time asked for, within reason; null when there is that much. */
function goalAhead(state: EvictionState, signal: Signal, seen: Forecast, fullWithin: Milliseconds): number | null {
  const observation = state.observations.get(signal);
  if (observation === undefined) return null;
  const lasting = Math.ceil(((seen.rate * fullWithin) / 1_000) * AHEAD_MARGIN);
  const most = Math.floor(observation.capacity * AHEAD_SHARE);
  const goal = Math.min(lasting, most);
  return goal > observation.available ? goal : null;
}

function aheadOf(signal: Signal, target: number, steps: Pressed['steps']): Pressed {
  const threshold = {
    id: `${signal}/ahead`,
    signal,
    limit: { kind: 'amount', quantity: parseQuantity(String(target)) },
    urgency: { kind: 'soft', grace: milliseconds(0) },
    minReclaim: null,
  } as const;
  return { threshold, thresholds: [threshold], goals: [{ signal, line: target, target }], steps };
}
