import type { EvictionEvent } from '../eviction/event.js';
import type { GcEvent } from '../gc/gc-event.js';
import type { Clock } from '../ports/clock.js';
import { FailedRemovals } from './failed-removals.js';
import type { Notices } from './notices.js';
import type { RuntimeDeadlines } from './runtime-deadlines.js';

/** What tells warnings about whole passes. */
export interface WarningDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly notices: Notices;
  readonly deadlines: RuntimeDeadlines;
}

/** A pass under pressure with what is to be said at its end: failed removals by kind, calls that ran into a deadline. */
export async function* withPassWarnings<Result>(
  { clock, notices, deadlines }: WarningDeps,
  pass: AsyncGenerator<EvictionEvent, Result>,
): AsyncGenerator<EvictionEvent, Result> {
  const removals = new FailedRemovals(notices);
  for (;;) {
    const next = await pass.next();
    if (next.done === true) {
      for (const warning of [...deadlines.take(), ...removals.take()])
        yield { kind: 'warning', at: clock.now(), warning };
      return next.value;
    }
    const event = next.value;
    yield event;
    if (event.kind === 'removed') removals.succeeded(event.subject.id);
    if (event.kind === 'removal-failed') {
      const { subject, message, isStillListed = false } = event;
      removals.failed({ ...subject, message, isStillListed });
    }
    if (event.kind !== 'reclaim-finished') continue;
    if (event.outcome !== 'no-effect') notices.ends('REMOVALS_DO_NOT_HELP');
    else if (notices.begins('REMOVALS_DO_NOT_HELP')) {
      const removed = Object.values(event.removed).reduce((sum, each) => sum + each, 0);
      yield { kind: 'warning', at: clock.now(), warning: { code: 'REMOVALS_DO_NOT_HELP', removals: removed } };
    }
  }
}

/** The same for a periodic pass. */
export async function* withGcWarnings<Result>(
  { clock, notices, deadlines }: WarningDeps,
  pass: AsyncGenerator<GcEvent, Result>,
): AsyncGenerator<GcEvent, Result> {
  const removals = new FailedRemovals(notices);
  for (;;) {
    const next = await pass.next();
    if (next.done === true) {
      for (const warning of [...deadlines.take(), ...removals.take()])
        yield { kind: 'warning', at: clock.now(), warning };
      return next.value;
    }
    const event = next.value;
    yield event;
    if (event.kind === 'collected') removals.succeeded(event.subject.id);
    if (event.kind !== 'not-collected') continue;
    const { subject, message, isStillListed = false } = event;
    removals.failed({ ...subject, message, isStillListed });
  }
}
