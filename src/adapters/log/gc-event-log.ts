import type { Logger } from 'pino';
import { type GcEvent, HOOK_STEP } from '../../gc/gc-event.js';
import { codeOfGcEvent } from '../../gc/gc-event-code.js';
import { explainGc } from '../../gc/gc-explain.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** How loud each kind of event is; a run as its report says. */
const LEVELS = {
  collected: 'info',
  // Told together at the end of the run, with those that failed anew.
  'not-collected': 'info',
  spared: 'debug',
  'node-event': 'warn',
  'log-rotated': 'info',
  'log-not-rotated': 'warn',
  'hook-ran': 'info',
  'out-of-disk': 'warn',
  'gc-dropped': 'warn',
  'gc-step-failed': 'warn',
  'image-reference-unresolved': 'warn',
  'protect-pattern-unused': 'warn',
  'image-came-back': 'warn',
  'protected-images-hold-space': 'warn',
  warning: 'warn',
} as const satisfies Record<Exclude<GcEvent['kind'], 'gc-run'>, Level>;

/** The first failed image run may only mean that there are no statistics yet. */
const RUN_LEVELS = {
  error: 'error',
  'error-first': 'warn',
  'error-repeated': 'error',
  'info-1': 'info',
  'info-4': 'debug',
} as const;

/** So many failures are remembered at most; past that they are told anew. */
const MOST_REMEMBERED = 1_000;

/**
 * Writes one event of collecting as one line: `event` is its kind, `msg` the sentence, the rest its numbers. A failure that stays
 * the same is said once, until what failed has worked.
 */
export function createGcEventLog(logger: Logger): (event: GcEvent) => void {
  /** What failed → how it failed when that was last said. */
  const said = new Map<string, string>();
  return (event) => {
    for (const key of mended(event, said)) said.delete(key);
    const failure = failureOf(event);
    if (failure !== null) {
      // How full a disk is differs from run to run; that it stays full is one state.
      const how = failure.message.replace(/\d+/g, '#');
      if (said.get(failure.of) === how) return;
      if (said.size >= MOST_REMEMBERED) said.clear();
      said.set(failure.of, how);
    }
    const level = levelOf(event);
    if (logger.isLevelEnabled(level)) logger[level](fieldsOf(event), explainGc(event));
  };
}

function levelOf(event: GcEvent): Level {
  if (event.kind === 'gc-run') return RUN_LEVELS[event.log];
  return event.kind === 'out-of-disk' && !event.isOut ? 'info' : LEVELS[event.kind];
}

interface Failure {
  readonly of: string;
  readonly message: string;
}

/** What an event says of something that fails, and may fail again in the same way; null for all others. */
function failureOf(event: GcEvent): Failure | null {
  switch (event.kind) {
    case 'not-collected':
      return { of: `removal ${event.subject.id}`, message: event.message };
    case 'log-not-rotated':
      return { of: `rotation ${event.container}`, message: event.message };
    case 'gc-step-failed':
      return { of: `step ${event.step}`, message: event.message };
    case 'node-event':
      // All but one are of images.
      return {
        of: `${event.reason} of ${event.reason === 'ContainerGCFailed' ? 'container' : 'image'}`,
        message: event.message,
      };
    case 'gc-run':
      return event.message === null ? null : { of: `run ${event.collector}`, message: event.message };
    case 'collected':
    case 'spared':
    case 'log-rotated':
    case 'hook-ran':
    case 'out-of-disk':
    case 'gc-dropped':
    case 'image-reference-unresolved':
    case 'protect-pattern-unused':
    case 'image-came-back':
    case 'protected-images-hold-space':
    case 'warning':
      return null;
  }
}

/** The failures that an event ends. A run that worked ends those of all steps: the runtime answers again. */
function mended(event: GcEvent, said: ReadonlyMap<string, string>): readonly string[] {
  switch (event.kind) {
    case 'collected':
      return [`removal ${event.subject.id}`];
    case 'log-rotated':
      return [`rotation ${event.container}`, 'step log rotation'];
    case 'hook-ran':
      return [`step ${HOOK_STEP}`];
    case 'gc-run':
      if (event.message !== null) return [];
      return [...said.keys()].filter(
        (key) => key.startsWith('step ') || key.endsWith(` of ${event.collector}`) || key === `run ${event.collector}`,
      );
    case 'not-collected':
    case 'spared':
    case 'node-event':
    case 'log-not-rotated':
    case 'out-of-disk':
    case 'gc-dropped':
    case 'gc-step-failed':
    case 'image-reference-unresolved':
    case 'protect-pattern-unused':
    case 'image-came-back':
    case 'protected-images-hold-space':
    case 'warning':
      return [];
  }
}

/** The event with its subject spread out; `at` is the line's own time, `message` stands in the sentence. */
function fieldsOf(told: GcEvent): Record<string, unknown> {
  const { kind, at: _, ...event } = told;
  const code = codeOfGcEvent(told);
  const fields: Record<string, unknown> = { event: kind, ...(code === null ? {} : { code }) };
  for (const [name, value] of Object.entries(event)) {
    if (name === 'subject' && 'subject' in event) Object.assign(fields, event.subject);
    else if (name === 'warning' && 'warning' in event) Object.assign(fields, event.warning);
    else if (name === 'took') fields['tookMs'] = Math.round(Number(value) * 10) / 10;
    else fields[name] = value;
  }
  return fields;
}
