import type { EvictionEvent } from '../eviction/event.js';
import type { Warning } from '../eviction/warning.js';
import type { GcEvent } from '../gc/gc-event.js';
import type { Clock } from '../ports/clock.js';
import type { Instant } from '../units/units.js';
import { FailedRemovals } from './failed-removals.js';
import type { Notices } from './notices.js';
import type { RuntimeDeadlines } from './runtime-deadlines.js';

/** What tells warnings about whole passes. */
export interface WarningDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly notices: Notices;
  readonly deadlines: RuntimeDeadlines;
}

/** A warning as an event of either story. */
interface WarningEvent {
  readonly at: Instant;
  readonly kind: 'warning';
  readonly warning: Warning;
}

/** A pass under pressure with what is to be said at its end: failed removals by kind, calls that ran into a deadline. */
export function withPassWarnings<Result>(
  deps: WarningDeps,
  pass: AsyncGenerator<EvictionEvent, Result>,
): AsyncGenerator<EvictionEvent, Result> {
  const { notices } = deps;
  return withWarnings(deps, pass, (event, removals) => {
    if (event.kind === 'removed') removals.succeeded(event.subject.id);
    if (event.kind === 'removal-failed') removals.failed(failureOf(event));
    if (event.kind !== 'reclaim-finished') return null;
    if (event.outcome !== 'no-effect') notices.ends('REMOVALS_DO_NOT_HELP');
    else if (notices.begins('REMOVALS_DO_NOT_HELP')) {
      const removed = Object.values(event.removed).reduce((sum, each) => sum + each, 0);
      return { code: 'REMOVALS_DO_NOT_HELP', removals: removed };
    }
    return null;
  });
}

/** The same for a periodic pass. */
export function withGcWarnings<Result>(
  deps: WarningDeps,
  pass: AsyncGenerator<GcEvent, Result>,
): AsyncGenerator<GcEvent, Result> {
  return withWarnings(deps, pass, (event, removals) => {
    if (event.kind === 'collected') removals.succeeded(event.subject.id);
    if (event.kind === 'not-collected') removals.failed(failureOf(event));
    return null;
  });
}

/** Passes a story on, `hear`ing each event, and adds the warnings of the whole pass at its end. */
async function* withWarnings<Event, Result>(
  { clock, notices, deadlines }: WarningDeps,
  pass: AsyncGenerator<Event, Result>,
  hear: (event: Event, removals: FailedRemovals) => Warning | null,
): AsyncGenerator<Event | WarningEvent, Result> {
  const removals = new FailedRemovals(notices);
  const told = (warning: Warning): WarningEvent => ({ kind: 'warning', at: clock.now(), warning });
  for (;;) {
    const next = await pass.next();
    if (next.done === true) {
      for (const warning of [...deadlines.take(), ...removals.take()]) yield told(warning);
      return next.value;
    }
    yield next.value;
    const warning = hear(next.value, removals);
    if (warning !== null) yield told(warning);
  }
}

function failureOf<Subject extends object>(event: {
  readonly subject: Subject;
  readonly message: string;
  readonly isStillListed?: true;
}): Subject & { readonly message: string; readonly isStillListed: boolean } {
  return { ...event.subject, message: event.message, isStillListed: event.isStillListed ?? false };
}
