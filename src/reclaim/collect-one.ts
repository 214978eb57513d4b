import type { GcEvent, GcSubject } from '../gc/gc-event.js';
import type { Clock } from '../ports/clock.js';
import { elapsed } from '../units/units.js';
import { messageOf, type Removed, toError } from './removal.js';

/** One removal by a periodic run, as the event that tells it. Never rejects. */
export async function collectOne(clock: Clock, subject: GcSubject, remove: () => Promise<Removed>): Promise<GcEvent> {
  const began = clock.now();
  const outcome = await remove().catch(toError);
  const took = elapsed(began, clock.now());
  const at = clock.now();
  if (outcome instanceof Error) {
    return { kind: 'not-collected', at, subject, message: messageOf(outcome), took, countedAs: null };
  }
  if (outcome.kind === 'skipped') return { kind: 'spared', at, subject, why: outcome.why };
  return { kind: 'collected', at, subject, took, countedAs: null };
}
