import type { Availability } from '../eviction/event.js';
import type { Signal } from '../eviction/signal.js';
import { elapsed, type Milliseconds, milliseconds } from '../units/units.js';
import { isReached, type ReclaimRun } from './run.js';

/** How often free space is looked at while it comes back; one look costs some 20 µs. */
const LOOK_EVERY = milliseconds(20);
/** How long the space of an image may take: at once on ext4, within 48 ms on XFS, which frees in the background; measured. */
export const COMES_WITH_THE_CALL = milliseconds(100);
/** How long is waited between batches when nobody knows what a batch held: what it took in all but one measurement. */
export const USUALLY_COMES_WITHIN = milliseconds(650);

/** What a wait saw. */
export interface Settled {
  readonly available: Availability;
  readonly waited: Milliseconds;
  /** Whether any signal rose between two looks: a gain counts even where a writer eats it at once. */
  readonly rose: boolean;
}

/**
 * Waits while freed space is still coming back: until the goals are reached, until `expected` bytes have come, or until
 * `limit` is over. `before` is what was available before the removals.
 */
export async function settle(
  run: ReclaimRun,
  before: Availability,
  expected: number | null,
  limit: Milliseconds,
): Promise<Settled> {
  const began = run.clock.now();
  let available = await run.look();
  let rose = hasRisen(before, available);
  let gained = bytesGained(before, available);
  for (;;) {
    const waited = elapsed(began, run.clock.now());
    const hasCome = isReached(run, available) || (expected !== null && gained >= expected);
    if (hasCome || waited >= limit || run.signal.aborted) return { available, waited, rose };
    await run.clock.sleep(LOOK_EVERY, run.signal);
    const next = await run.look();
    rose ||= hasRisen(available, next);
    gained = Math.max(gained, bytesGained(before, next));
    available = next;
  }
}

/** Whether any signal has more available than before. */
export function hasRisen(before: Availability, after: Availability): boolean {
  return (Object.keys(after) as readonly Signal[]).some((signal) => gainOf(signal, before, after) > 0);
}

/** How many bytes more are available than before; 0 when fewer are. */
export function bytesGained(before: Availability, after: Availability): number {
  const signals = (Object.keys(after) as readonly Signal[]).filter((signal) => signal.endsWith('.available'));
  return Math.max(0, ...signals.map((signal) => gainOf(signal, before, after)));
}

function gainOf(signal: Signal, before: Availability, after: Availability): number {
  const now = after[signal];
  return now === undefined ? 0 : now - (before[signal] ?? now);
}
