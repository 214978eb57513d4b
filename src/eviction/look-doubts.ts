import type { EvictionSettings } from './assess.js';
import type { FsLayout } from './layout.js';
import { limitText } from './limit-text.js';
import type { Sight } from './observe.js';
import { SIGNALS, type Signal } from './signal.js';
import type { Threshold } from './threshold.js';
import type { Warning } from './warning.js';

/** A warning with the state that it is about: said once for good. */
export interface LookDoubt {
  readonly key: string;
  readonly warning: Warning;
}

const IMAGEFS_SIGNALS = ['imagefs.available', 'imagefs.inodesFree'] as const satisfies readonly Signal[];
/** An image disk that nobody watches is said anew when it is so full. */
const NEARLY_FULL = 0.9;

/**
 * What is doubtful about the thresholds of a node, as far as this look can tell: numbers that a configuration alone does not
 * show. Those of containerfs are copies and told with what they were copied from.
 */
export function lookDoubts(sight: Sight, layout: FsLayout, settings: EvictionSettings): readonly LookDoubt[] {
  const thresholds = settings.thresholds.filter((each) => each.isDerived !== true);
  return [
    ...thresholds.flatMap((each) => notApplicable(each, sight)),
    ...thresholds.flatMap((each) => mostOfDisk(each, sight, settings)),
    ...thresholds.flatMap((each) => softNotAboveHard(each, thresholds, sight, settings)),
    ...imagefsNotWatched(thresholds, sight, layout),
  ];
}

function notApplicable({ signal }: Threshold, sight: Sight): readonly LookDoubt[] {
  const isMeasurable = !sight.unknown.some((each) => each.signal === signal && each.reason === 'not-measurable');
  return isMeasurable ? [] : [{ key: signal, warning: { code: 'SIGNAL_NOT_APPLICABLE', signal } }];
}

/** A percentage says by itself how much of the disk it is. */
function mostOfDisk(threshold: Threshold, { observations }: Sight, { lines }: EvictionSettings): readonly LookDoubt[] {
  const { id, signal, limit } = threshold;
  const seen = observations.get(signal);
  if (limit.kind !== 'amount' || seen === undefined || SIGNALS[signal].filesystem === null) return [];
  const { line } = lines.lineOf(threshold, seen.capacity);
  if (line <= seen.capacity / 2 || line > seen.capacity) return [];
  const { capacity } = seen;
  return [
    {
      key: id,
      warning: { code: 'THRESHOLD_MOST_OF_DISK', signal, limit: limitText(limit), line, capacity },
    },
  ];
}

function softNotAboveHard(
  threshold: Threshold,
  thresholds: readonly Threshold[],
  { observations }: Sight,
  { lines }: EvictionSettings,
): readonly LookDoubt[] {
  const { signal, urgency } = threshold;
  const seen = observations.get(signal);
  const other = thresholds.find((each) => each.signal === signal && each.urgency.kind === 'hard');
  if (urgency.kind === 'hard' || seen === undefined || other === undefined) return [];
  const soft = lines.lineOf(threshold, seen.capacity).line;
  const hard = lines.lineOf(other, seen.capacity).line;
  return soft > hard ? [] : [{ key: signal, warning: { code: 'SOFT_NOT_ABOVE_HARD', signal, soft, hard } }];
}

function imagefsNotWatched(
  thresholds: readonly Threshold[],
  { observations }: Sight,
  layout: FsLayout,
): readonly LookDoubt[] {
  const seen = observations.get('imagefs.available');
  const isWatched = thresholds.some(({ signal }) => SIGNALS[signal].filesystem === 'imagefs');
  if (layout === 'one-disk' || isWatched || seen === undefined) return [];
  const { available, capacity } = seen;
  const isNearlyFull = capacity - available > capacity * NEARLY_FULL;
  return [
    {
      key: isNearlyFull ? 'nearly full' : 'at all',
      warning: { code: 'IMAGEFS_NOT_WATCHED', signals: IMAGEFS_SIGNALS, available, capacity, isNearlyFull },
    },
  ];
}
