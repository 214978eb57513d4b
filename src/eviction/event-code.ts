import type { EvictionEvent } from './event.js';
import type { WarningCode } from './warning.js';

/** The kinds that are warnings whatever they hold. */
const CODES: Partial<Readonly<Record<EvictionEvent['kind'], WarningCode>>> = {
  'image-path-fallback': 'IMAGEFS_PATH_FALLBACK',
  'available-above-capacity': 'AVAILABLE_ABOVE_CAPACITY',
  'line-above-capacity': 'THRESHOLD_ABOVE_CAPACITY',
  'image-reference-unresolved': 'IMAGE_REF_UNRESOLVED',
  'protect-pattern-unused': 'PROTECT_PATTERN_UNUSED',
  'protected-images-hold-space': 'PROTECTED_IMAGES_HOLD_SPACE',
  'usage-impossible': 'IMPOSSIBLE_USAGE',
};

/** The code under which an event is a warning; null for all that is none. */
export function codeOfEvent(event: EvictionEvent): WarningCode | null {
  if (event.kind === 'warning') return event.warning.code;
  if (event.kind === 'helpless') return event.nobody === true ? 'NO_EVICTABLE_POD' : null;
  if (event.kind === 'signal-unknown-for-long') {
    return event.reason === 'no-capacity' ? 'INVALID_CAPACITY' : 'NO_OBSERVATION';
  }
  return CODES[event.kind] ?? null;
}
