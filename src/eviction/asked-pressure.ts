import type { EvictionSettings } from './assess.js';
import type { Pressed } from './decide.js';
import type { Goal } from './event.js';
import { deviceUnder, type FsLayout } from './layout.js';
import { lineOf } from './line.js';
import type { Observations } from './observe.js';
import { SIGNALS, type Signal } from './signal.js';
import { reclaimSteps } from './steps.js';
import type { Limit, Threshold } from './threshold.js';

/** What somebody wants to have free, whether a line is missed or not. */
export interface AskedPressure {
  /** Null = the disk signal that misses most of its target, or is nearest to it. */
  readonly signal: Signal | null;
  /** How much is to be available; null = what the thresholds want, `all` = everything that may go; or goals as they are. */
  readonly target: Limit | 'all' | readonly Goal[] | null;
}

/**
 * The pressure to plan for: as if the lines of a device were missed, with what was asked for as the goal. Null where no disk signal
 * has numbers, or none has a threshold and no target was named.
 */
export function askedPressure(
  asked: AskedPressure,
  observations: Observations,
  layout: FsLayout,
  settings: EvictionSettings,
): Pressed | null {
  const signal = asked.signal ?? nearestSignal(observations, settings);
  const seen = signal === null ? undefined : observations.get(signal);
  if (signal === null || seen === undefined || SIGNALS[signal].filesystem === null) return null;
  const thresholds = onDeviceOf(signal, layout, settings);
  const first = thresholds.find((each) => each.signal === signal) ?? thresholds[0];
  const threshold = first ?? askedThreshold(signal, asked.target);
  if (threshold === null) return null;
  return {
    // Pressed by a hard line: what is asked for is worth as much as images that are new.
    threshold: { ...threshold, signal },
    thresholds: [{ ...threshold, signal, urgency: { kind: 'hard' } }],
    goals: goalsOf(asked.target, signal, seen.capacity, thresholds, observations),
    steps: reclaimSteps(signal, layout, settings.policy),
  };
}

function goalsOf(
  target: AskedPressure['target'],
  signal: Signal,
  capacity: number,
  thresholds: readonly Threshold[],
  observations: Observations,
): readonly Goal[] {
  if (target === 'all') return [];
  if (isGoals(target)) return target;
  if (target !== null) {
    const { line } = lineOf({ limit: target, minReclaim: null }, capacity);
    return [{ signal, line, target: line }];
  }
  const goals = new Map<Signal, Goal>();
  for (const each of thresholds) {
    const seen = observations.get(each.signal);
    if (seen === undefined) continue;
    const { line, target: wanted } = lineOf(each, seen.capacity);
    const other = goals.get(each.signal);
    if (other === undefined || wanted > other.target)
      goals.set(each.signal, { signal: each.signal, line, target: wanted });
  }
  return [...goals.values()];
}

/** Thresholds of the same unit on the same device: one disk has one target, the stricter one. */
function onDeviceOf(signal: Signal, layout: FsLayout, { thresholds }: EvictionSettings): readonly Threshold[] {
  const { filesystem, unit } = SIGNALS[signal];
  if (filesystem === null) return [];
  const device = deviceUnder(filesystem, layout);
  return thresholds.filter((each) => {
    const row = SIGNALS[each.signal];
    return (
      each.isDerived !== true &&
      row.filesystem !== null &&
      row.unit === unit &&
      deviceUnder(row.filesystem, layout) === device
    );
  });
}

function askedThreshold(signal: Signal, target: AskedPressure['target']): Threshold | null {
  if (target === null) return null;
  // Only the goals count; the limit stands for them where a threshold is named.
  const limit: Limit = target === 'all' || isGoals(target) ? { kind: 'fraction', fraction: 1 } : target;
  return { id: `asked/${signal}`, signal, limit, urgency: { kind: 'hard' }, minReclaim: null };
}

function isGoals(target: AskedPressure['target']): target is readonly Goal[] {
  return Array.isArray(target);
}

/** By the share of the capacity that is missing to the target: bytes and inodes compare. */
function nearestSignal(observations: Observations, { thresholds }: EvictionSettings): Signal | null {
  let nearest: { readonly signal: Signal; readonly missing: number } | null = null;
  for (const each of thresholds) {
    const seen = observations.get(each.signal);
    if (each.isDerived === true || SIGNALS[each.signal].filesystem === null || seen === undefined) continue;
    const missing = (lineOf(each, seen.capacity).target - seen.available) / Math.max(1, seen.capacity);
    if (nearest === null || missing > nearest.missing) nearest = { signal: each.signal, missing };
  }
  return nearest?.signal ?? null;
}
