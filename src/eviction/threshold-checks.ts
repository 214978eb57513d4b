import type { LineBook } from './evaluate.js';
import { thresholdText } from './explain.js';
import type { FsLayout } from './layout.js';
import { amountText } from './message.js';
import type { Observations } from './observe.js';
import { SIGNALS, type Signal } from './signal.js';
import type { Threshold } from './threshold.js';

/** How a check went: `warn` is worth a thought, `fail` keeps the product from doing its work. */
export type CheckLevel = 'ok' | 'warn' | 'fail';

/** One thing that was checked, for people: what, how it went, and what to do about it. */
export interface Check {
  readonly what: string;
  readonly level: CheckLevel;
  readonly text: string;
}

/** What the checks of thresholds are made from. */
export interface ThresholdFacts {
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
  /** Why a signal has no numbers. */
  readonly unknown: ReadonlyMap<Signal, { readonly detail: string }>;
  readonly layout: FsLayout | null;
  readonly lines: LineBook;
}

/** Whether each threshold can ever fire, and what it would do, one check for each. Pure. */
export function checkThresholds(facts: ThresholdFacts): readonly Check[] {
  const own = facts.thresholds.filter((each) => !each.isDerived);
  const watchesImages = own.some((each) => SIGNALS[each.signal].filesystem === 'imagefs');
  const apart = facts.layout === 'image-disk' || facts.layout === 'split-disks';
  return [
    ...own.map((threshold) => ({ what: `threshold ${thresholdText(threshold)}`, ...judged(threshold, facts) })),
    ...(apart && !watchesImages
      ? [
          {
            what: 'image disk',
            level: 'warn' as const,
            text: 'images lie on a disk of their own, and no imagefs threshold watches it: it can fill unnoticed',
          },
        ]
      : []),
  ];
}

function judged(threshold: Threshold, facts: ThresholdFacts): Omit<Check, 'what'> {
  const { signal } = threshold;
  const seen = facts.observations.get(signal);
  if (seen === undefined) {
    const why = facts.unknown.get(signal)?.detail ?? 'there are no numbers for it';
    return { level: 'warn', text: `can never fire as things are: ${why}` };
  }
  const { line, target } = facts.lines.lineOf(threshold, seen.capacity);
  if (line === 0) return { level: 'warn', text: 'can never fire: a line at zero is never missed' };
  if (line > seen.capacity) {
    const capacity = amountText(signal, seen.capacity);
    return {
      level: 'warn',
      text: `is set aside: its line of ${amountText(signal, line)} lies above the capacity of ${capacity}`,
    };
  }
  if (target > seen.capacity) {
    return {
      level: 'warn',
      text: `once met never clears: line and minimum reclaim are ${amountText(signal, target)} of ${amountText(signal, seen.capacity)}`,
    };
  }
  const headroom = `${amountText(signal, seen.available)} available, line at ${amountText(signal, line)}`;
  if (seen.available < line) return { level: 'warn', text: `is met now: ${headroom}` };
  return { level: 'ok', text: `can fire: ${headroom}, ${amountText(signal, seen.available - line)} to go` };
}

/**
 * Where a kubelet on this node acts before we do: its line of a signal lies as high as ours or higher. `ours` and `theirs` are hard
 * and soft thresholds alike; a line of a percentage is compared at the capacity that was seen.
 */
export function checkKubeletFirst(
  ours: readonly Threshold[],
  theirs: readonly Threshold[],
  observations: Observations,
  lines: LineBook,
): readonly Check[] {
  return ours.flatMap((threshold) => {
    const capacity = observations.get(threshold.signal)?.capacity;
    if (threshold.isDerived || capacity === undefined) return [];
    const { line } = lines.lineOf(threshold, capacity);
    const first = theirs
      .filter((each) => each.signal === threshold.signal)
      .find((each) => lines.lineOf(each, capacity).line >= line);
    if (first === undefined) return [];
    return [
      {
        what: `kubelet beside, ${threshold.signal}`,
        level: 'warn',
        text: `the kubelet acts first or at the same time: its ${thresholdText(first)} against our ${thresholdText(threshold)}; set ours above it`,
      },
    ];
  });
}
