import type { Logger } from 'pino';
import type { EvictionEvent } from '../../eviction/event.js';
import { codeOfEvent } from '../../eviction/event-code.js';
import { explain, thresholdText } from '../../eviction/explain.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** How loud each kind of event is. Transitions and deeds are logged; what is only a state is for debugging. */
const LEVELS = {
  observed: 'debug',
  'layout-changed': 'info',
  'layout-unknown': 'warn',
  'layout-refused': 'error',
  'look-failed': 'error',
  'notifiers-updated': 'debug',
  'notifier-failed': 'warn',
  'threshold-served': 'debug',
  'storage-limits-checked': 'debug',
  'storage-limit-exceeded': 'warn',
  'storage-limit-served': 'warn',
  'image-path-fallback': 'warn',
  'signal-unknown': 'info',
  'signal-unknown-for-long': 'warn',
  'signal-known': 'info',
  'available-above-capacity': 'warn',
  'line-above-capacity': 'warn',
  'threshold-met': 'warn',
  'threshold-cleared': 'info',
  'will-be-full': 'warn',
  'fills-no-more': 'info',
  'collecting-ahead': 'info',
  'condition-on': 'warn',
  'condition-off': 'info',
  'reclaim-started': 'info',
  'reclaim-planned': 'info',
  removed: 'info',
  // Told together at the end of the pass, with those that failed anew.
  'removal-failed': 'info',
  'removal-skipped': 'info',
  'batch-measured': 'debug',
  'image-reference-unresolved': 'warn',
  'protect-pattern-unused': 'warn',
  'image-came-back': 'warn',
  'protected-images-hold-space': 'warn',
  'space-not-freed': 'warn',
  'list-failed': 'warn',
  'reclaim-finished': 'info',
  'would-remove': 'info',
  'would-evict': 'info',
  'eviction-decided': 'warn',
  'eviction-hastened': 'warn',
  'pod-lingers': 'warn',
  'stop-hangs': 'warn',
  'kill-outstanding': 'info',
  'pod-killed': 'warn',
  'eviction-measured': 'info',
  helpless: 'error',
  'writer-goes-first': 'warn',
  'usage-impossible': 'warn',
  'ballast-laid': 'info',
  'ballast-released': 'warn',
  'ballast-failed': 'warn',
  restored: 'info',
  'store-trouble': 'warn',
  'store-mended': 'info',
  'kubelet-beside': 'warn',
  'runtime-lost': 'error',
  'runtime-back': 'info',
  'usage-checked': 'debug',
  warning: 'warn',
  'pass-failed': 'error',
} as const satisfies Record<EvictionEvent['kind'], Level>;

/** Pods of a ranking that are logged; a node of 500 pods would make a line of 100 kB. */
const RANKING_SHOWN = 10;
/** Of a plan; each removal has its own line. */
const SUBJECTS_SHOWN = 50;

/**
 * Writes one event as one line: `event` is its kind, `msg` the sentence, the rest its numbers. What goes on unchanged (a path
 * that stays missing, a layout that stays unknown, a collection that fails in the same way pass after pass) is said once,
 * until it ends: ten passes a second would else fill the disk that they try to relieve.
 */
export function createEventLog(logger: Logger): (event: EvictionEvent) => void {
  const said = new Set<string>();
  /** The opening of a collection in which nothing was news so far. */
  let opening: EvictionEvent | null = null;
  let hasRemoved = false;

  const write = (event: EvictionEvent) => {
    const level = LEVELS[event.kind];
    if (logger.isLevelEnabled(level)) logger[level](fieldsOf(event), explain(event));
  };

  return (event) => {
    if (event.kind === 'reclaim-started') {
      opening = event;
      hasRemoved = false;
      return;
    }
    if (event.kind === 'reclaim-finished' && opening !== null) {
      opening = null;
      return;
    }
    if (!isNews(event, said)) return;
    if (opening !== null && OF_A_COLLECTION.has(event.kind)) {
      write(opening);
      opening = null;
    }
    write(event);
    if (event.kind === 'removed') hasRemoved = true;
    if (ENDS_WHAT_WAS_SAID.has(event.kind) || (event.kind === 'reclaim-finished' && hasRemoved)) said.clear();
  };
}

function isNews(event: EvictionEvent, said: Set<string>): boolean {
  const state = lastingState(event);
  return state === null || isNew(said, state);
}

const ENDS_WHAT_WAS_SAID: ReadonlySet<EvictionEvent['kind']> = new Set([
  'layout-changed',
  'runtime-back',
  'threshold-cleared',
]);

/** What is told between the opening and the end of a collection; other events may come from beside it. */
const OF_A_COLLECTION: ReadonlySet<EvictionEvent['kind']> = new Set([
  'reclaim-planned',
  'removed',
  'removal-failed',
  'removal-skipped',
  'batch-measured',
  'image-reference-unresolved',
  'protect-pattern-unused',
  'image-came-back',
  'protected-images-hold-space',
  'space-not-freed',
  'list-failed',
  'would-remove',
  'would-evict',
]);

/** What an event says about a state that lasts, and that comes again with every pass; null for all others. */
function lastingState(event: EvictionEvent): string | null {
  if (event.kind === 'image-path-fallback') return `fallback ${event.path} ${event.used}`;
  if (event.kind === 'layout-unknown') return event.kind;
  if (event.kind === 'look-failed') return `look ${event.message}`;
  if (event.kind === 'image-reference-unresolved') return `unresolved ${event.container} ${event.reference}`;
  if (event.kind === 'usage-impossible') return `impossible ${event.pod.uid} ${event.signal}`;
  if (event.kind === 'pass-failed') return `pass ${event.message}`;
  if (event.kind === 'space-not-freed') return `not freed ${event.message}`;
  if (event.kind === 'list-failed') return `list ${event.what} ${event.message}`;
  if (event.kind === 'removal-failed') return `failed ${event.subject.id} ${event.message}`;
  if (event.kind === 'removal-skipped') return `skipped ${event.subject.id} ${event.why}`;
  if (event.kind === 'reclaim-planned') return `plan ${event.what} ${event.subjects.length} ${event.subjects[0]?.id}`;
  return null;
}

/** The set is bounded: past the limit it starts anew, and a line may be said twice. */
function isNew(said: Set<string>, what: string): boolean {
  if (said.has(what)) return false;
  if (said.size >= 1_000) said.clear();
  said.add(what);
  return true;
}

/** The event with its thresholds as text and its lists cut; `at` is the line's own time. */
function fieldsOf(told: EvictionEvent): Record<string, unknown> {
  const { kind, at: _, ...event } = told;
  const code = codeOfEvent(told);
  const fields: Record<string, unknown> = { event: kind, ...(code === null ? {} : { code }) };
  for (const [name, value] of Object.entries(event)) {
    if (name === 'threshold' && 'threshold' in event) {
      fields['signal'] = event.threshold.signal;
      fields['threshold'] = thresholdText(event.threshold);
    } else if (name === 'ranking' && 'ranking' in event) {
      fields['ranking'] = event.ranking.slice(0, RANKING_SHOWN);
      fields['ranked'] = event.ranking.length;
    } else if (name === 'subjects' && 'subjects' in event) {
      fields['subjects'] = event.subjects.slice(0, SUBJECTS_SHOWN).map(({ id, label }) => ({ id, label }));
      fields['planned'] = event.subjects.length;
    } else if (name === 'subject' && 'subject' in event) {
      Object.assign(fields, event.subject);
    } else if (name === 'sight' && 'sight' in event) {
      fields['available'] = Object.fromEntries(
        [...event.sight.observations].map(([signal, { available }]) => [signal, available]),
      );
    } else if (name === 'warning' && 'warning' in event) {
      Object.assign(fields, event.warning);
    } else if (name === 'took' || name === 'waited') {
      fields[`${name}Ms`] = Math.round(Number(value) * 10) / 10;
    } else {
      fields[name] = value;
    }
  }
  return fields;
}
