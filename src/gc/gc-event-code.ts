import type { WarningCode } from '../eviction/warning.js';
import type { GcEvent } from './gc-event.js';

/** The kinds that are warnings whatever they hold. */
const CODES: Partial<Readonly<Record<GcEvent['kind'], WarningCode>>> = {
  'image-reference-unresolved': 'IMAGE_REF_UNRESOLVED',
  'protect-pattern-unused': 'PROTECT_PATTERN_UNUSED',
  'protected-images-hold-space': 'PROTECTED_IMAGES_HOLD_SPACE',
};

/** The code under which an event of periodic collecting is a warning; null for all that is none. */
export function codeOfGcEvent(event: GcEvent): WarningCode | null {
  return event.kind === 'warning' ? event.warning.code : (CODES[event.kind] ?? null);
}
