import { imageNewsText } from '../eviction/image-text.js';
import { bytesText } from '../eviction/message.js';
import { warningText } from '../eviction/warning.js';
import type { RoomAnswer } from './disk-space.js';
import type { GcEvent, GcSubject, RunLog } from './gc-event.js';

/** One event of periodic collecting, log rotation or clean-up as a sentence for people. */
export function explainGc(event: GcEvent): string {
  switch (event.kind) {
    case 'collected':
      return `removed ${subjectText(event.subject)} without pressure: ${event.subject.reason}`;
    case 'not-collected':
      return `could not remove ${subjectText(event.subject)} (${event.subject.reason}): ${event.message}`;
    case 'spared':
      return `left ${subjectText(event.subject)} after a last look: ${event.why}`;
    case 'node-event':
      return `${event.reason}: ${event.message}`;
    case 'gc-run':
      return event.message === null
        ? `${PLURAL[event.collector]} were collected${RUNS[event.log]}`
        : `collecting ${PLURAL[event.collector]} failed${RUNS[event.log]}: ${event.message}`;
    case 'log-rotated':
      return `rotated ${event.path} to ${event.rotatedTo}`;
    case 'log-not-rotated':
      return `could not rotate the log of container ${event.container.slice(0, 13)}: ${event.message}`;
    case 'hook-ran':
      return `ran ${event.program} after image collection`;
    case 'out-of-disk':
      return event.isOut
        ? `out of disk: ${Object.entries(event.answers).flatMap(noRoomText).join('; ') || 'not for long enough'}`
        : 'not out of disk';
    case 'gc-dropped':
      return `${event.message}; the periodic run catches up`;
    case 'image-reference-unresolved':
    case 'protect-pattern-unused':
    case 'image-came-back':
    case 'protected-images-hold-space':
      return imageNewsText(event);
    case 'warning':
      return warningText(event.warning);
    case 'gc-step-failed':
      return `${event.step} failed: ${event.message}`;
  }
}

function noRoomText([filesystem, answer]: readonly [string, RoomAnswer]): readonly string[] {
  if (answer.kind !== 'no-room') return [];
  const { available, reserve } = answer;
  return [`${bytesText(available)} free on the ${filesystem} filesystem, where ${bytesText(reserve)} are held back`];
}

const PLURAL = { container: 'containers', image: 'images' } as const;

const RUNS = {
  error: '',
  'error-first': ' for the first time',
  'error-repeated': ' again',
  'info-1': ' again after a failure',
  'info-4': '',
} as const satisfies Record<RunLog, string>;

const NAMES = {
  container: 'container',
  sandbox: 'sandbox',
  image: 'image',
  'pod-logs': 'the logs of',
  'log-link': 'the link',
  log: 'the log',
  'pod-volumes': 'the volumes of',
} as const satisfies Record<GcSubject['what'], string>;

function subjectText({ what, label }: GcSubject): string {
  return `${NAMES[what]} ${label}`;
}
