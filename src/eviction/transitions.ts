import { elapsed, type Instant } from '../units/units.js';
import type { EvictionSettings } from './assess.js';
import type { EvictionEvent } from './event.js';
import { isWarningDue } from './evolve.js';
import { forecastChanges } from './foretell.js';
import type { Sight } from './observe.js';
import type { EvictionState } from './state.js';

/**
 * Tells what changed between two states as events: transitions, not states, are what is logged. `settings.thresholds`
 * decides which signals anybody cares for.
 */
export function transitions(
  before: EvictionState,
  after: EvictionState,
  sight: Sight,
  at: Instant,
  settings: EvictionSettings,
): readonly EvictionEvent[] {
  return [
    ...thresholdChanges(before, after, at, settings),
    ...conditionChanges(before, after, at),
    ...unknownChanges(before, after, at, settings),
    ...forecastChanges(after, at),
    ...sight.clamped
      .filter((each) => !before.clamped.has(each.signal))
      .map((clamped) => ({ kind: 'available-above-capacity' as const, at, clamped })),
    ...settings.thresholds.flatMap((threshold) => {
      const observation = after.observations.get(threshold.signal);
      if (
        observation === undefined ||
        threshold.isDerived ||
        before.setAside.has(threshold.id) ||
        !after.setAside.has(threshold.id)
      )
        return [];
      const { line } = settings.lines.lineOf(threshold, observation.capacity);
      return [{ kind: 'line-above-capacity' as const, at, threshold, line, capacity: observation.capacity }];
    }),
  ];
}

function thresholdChanges(
  before: EvictionState,
  after: EvictionState,
  at: Instant,
  { thresholds, lines }: EvictionSettings,
): readonly EvictionEvent[] {
  return thresholds.flatMap((threshold) => {
    const was = before.pressing.has(threshold.id);
    const is = after.pressing.has(threshold.id);
    const observation = after.observations.get(threshold.signal);
    // One that is set aside has not cleared: its own event says what became of it.
    if (was === is || observation === undefined || threshold.isDerived || after.setAside.has(threshold.id)) return [];
    const { line, target } = lines.lineOf(threshold, observation.capacity);
    return [
      {
        kind: is ? ('threshold-met' as const) : ('threshold-cleared' as const),
        at,
        threshold,
        observation,
        line,
        target,
      },
    ];
  });
}

function conditionChanges(before: EvictionState, after: EvictionState, at: Instant): readonly EvictionEvent[] {
  return [
    ...after.conditions
      .filter((each) => !before.conditions.includes(each))
      .map((condition) => ({ kind: 'condition-on' as const, at, condition })),
    ...before.conditions
      .filter((each) => !after.conditions.includes(each))
      .map((condition) => ({ kind: 'condition-off' as const, at, condition })),
  ];
}

function unknownChanges(
  before: EvictionState,
  after: EvictionState,
  at: Instant,
  { thresholds }: EvictionSettings,
): readonly EvictionEvent[] {
  const watched = new Set(thresholds.filter((each) => !each.isDerived).map((each) => each.signal));
  const events: EvictionEvent[] = [];
  for (const [signal, row] of after.unknown) {
    if (!watched.has(signal)) continue;
    const { reason, detail } = row;
    if (before.unknown.get(signal)?.reason !== reason) {
      events.push({ kind: 'signal-unknown', at, signal, reason, detail });
    }
    if (isWarningDue(row, { at })) {
      events.push({ kind: 'signal-unknown-for-long', at, signal, reason, detail, since: row.since });
    }
  }
  for (const [signal, row] of before.unknown) {
    if (!watched.has(signal) || after.unknown.has(signal)) continue;
    events.push({ kind: 'signal-known', at, signal, unknownFor: elapsed(row.since, at) });
  }
  return events;
}
