import type { EvictionEvent } from '../eviction/event.js';
import { deviceUnder, type FsLayout } from '../eviction/layout.js';
import type { Sight } from '../eviction/observe.js';
import { SIGNALS, type Signal } from '../eviction/signal.js';
import type { WarningDeps } from '../reclaim/told-warnings.js';

interface Teller {
  readonly layout: FsLayout;
  readonly deps: { readonly warnings?: WarningDeps };
}

/**
 * The changes that are news: filesystems on one disk say the same of it under several names, and periodic passes may have said it
 * already.
 */
export function newsOf(
  changes: readonly EvictionEvent[],
  sight: Sight,
  { layout, deps: { warnings } }: Teller,
): readonly EvictionEvent[] {
  if (warnings === undefined) return changes;
  const { notices } = warnings;
  const stillClamped = sight.clamped.map(({ signal }) => placeOf(signal, layout));
  const clamped = new Set(notices.last('AVAILABLE_ABOVE_CAPACITY', [...new Set(stillClamped)]));
  const withoutCapacity = sight.unknown.filter(({ reason }) => reason === 'no-capacity');
  const blind = new Set(withoutCapacity.flatMap(({ signal }) => SIGNALS[signal].filesystem ?? []));
  for (const filesystem of ['nodefs', 'imagefs', 'containerfs'] as const) {
    if (!blind.has(filesystem)) notices.ends(`INVALID_CAPACITY ${filesystem}`);
  }
  return changes.filter((event) => {
    if (event.kind === 'available-above-capacity') return clamped.delete(placeOf(event.clamped.signal, layout));
    if (event.kind !== 'signal-unknown-for-long' || event.reason !== 'no-capacity') return true;
    return notices.begins(`INVALID_CAPACITY ${SIGNALS[event.signal].filesystem}`);
  });
}

/** The disk that a signal measures, and in what. */
function placeOf(signal: Signal, layout: FsLayout): string {
  const { filesystem, unit } = SIGNALS[signal];
  return `${filesystem === null ? signal : deviceUnder(filesystem, layout)} ${unit}`;
}
