import type { Applied } from '../../daemon/plan-once.js';
import type { EvictionEvent } from '../../eviction/event.js';
import { explain, subjectText } from '../../eviction/explain.js';
import { amountText, bytesText } from '../../eviction/message.js';

/** One event of an application as a line; null = it is not worth one. */
export function appliedLine(event: EvictionEvent): string | null {
  return event.kind === 'observed' || event.kind === 'reclaim-planned' ? null : explain(event);
}

/** What came of a plan, or would come of it. */
export function renderApplied({ plan, left, changed, result }: Applied, events: readonly EvictionEvent[]): string {
  const planned = plan.entries.filter((each) => each.goes).length;
  if (result === null) {
    return [
      ...changed.map(({ entry, why }) => `would leave ${entry.what} ${entry.label} alone: ${why}`),
      `Dry run: ${left} of ${planned} would be removed as planned, ${changed.length} have changed. Nothing is changed.`,
      '',
    ].join('\n');
  }
  const removed = events.filter((event) => event.kind === 'removed').length;
  const failed = new Set(events.flatMap((event) => (event.kind === 'removal-failed' ? [event.subject.id] : [])));
  const measured = events.findLast((event) => event.kind === 'batch-measured');
  const available = measured?.availableAfter[plan.signal] ?? plan.available;
  return [
    `Removed ${removed} of ${planned} planned (${bytesText(result.claimed)} claimed), ${failed.size} failed: ${OUTCOMES[result.outcome]}.`,
    `${plan.signal}: ${amountText(plan.signal, plan.available)} available in the plan, ${amountText(plan.signal, available)} now.`,
    '',
  ].join('\n');
}

/** The same for programs. */
export function appliedJson({ plan, left, changed, result }: Applied, events: readonly EvictionEvent[]): string {
  const said = {
    signal: plan.signal,
    goals: plan.goals,
    planned: plan.entries.filter((each) => each.goes).length,
    stillToRemove: left,
    changed: changed.map(({ entry, why }) => ({ what: entry.what, id: entry.id, label: entry.label, why })),
    outcome: result?.outcome ?? null,
    claimed: result?.claimed ?? null,
    removed: subjectsOf(events, 'removed'),
    skipped: subjectsOf(events, 'removal-skipped'),
    failed: subjectsOf(events, 'removal-failed'),
    availablePlanned: plan.available,
    availableAfter: events.findLast((event) => event.kind === 'batch-measured')?.availableAfter[plan.signal] ?? null,
  };
  return `${JSON.stringify(said, null, 2)}\n`;
}

function subjectsOf(
  events: readonly EvictionEvent[],
  kind: 'removed' | 'removal-skipped' | 'removal-failed',
): readonly Readonly<Record<string, unknown>>[] {
  return events.flatMap((event) => {
    if (event.kind !== kind || !('subject' in event)) return [];
    const { what, id, label } = event.subject;
    const why = 'why' in event ? event.why : 'message' in event ? event.message : subjectText(event.subject);
    return [{ what, id, label, why }];
  });
}

const OUTCOMES = {
  reached: 'the target is measured',
  exhausted: 'that was all that was planned and may still go',
  'no-effect': 'the last removals changed nothing, so the others were left alone',
  'runtime-failed': 'the runtime could not be asked on',
  'runtime-lost': 'the runtime went away meanwhile',
  aborted: 'interrupted',
} as const;
