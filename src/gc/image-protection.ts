import { bareId, fullReference, looksLikeId } from './image-reference.js';
import type { PlannedImage } from './inventory.js';

/**
 * Tells whether a pattern protects an image. `*` stands for any run of characters, `/` and `:` included; all else is
 * literal; the whole of a tag, digest or id must fit, in the form listed or the full one. Twelve or more hex digits also fit
 * as the beginning of an id.
 */
export function compileProtection(patterns: readonly string[]): (image: PlannedImage) => string | null {
  const rules = patterns.map((pattern) => ({ pattern, matches: compile(pattern) }));
  if (rules.length === 0) return () => null;
  return (image) => {
    // Made once for all patterns.
    const names = namesOf(image);
    return rules.find((rule) => rule.matches(image, names))?.pattern ?? null;
  };
}

/** All names of an image, in the form listed and in the full one. */
interface ImageNames {
  readonly listed: readonly string[];
  readonly full: readonly string[];
}

function namesOf(image: PlannedImage): ImageNames {
  const listed = [...image.tags, ...image.digests, image.id, bareId(image.id)];
  return { listed, full: listed.map(fullReference) };
}

function compile(pattern: string): (image: PlannedImage, names: ImageNames) => boolean {
  const expression = new RegExp(`^${pattern.split('*').map(escape).join('.*')}$`, 's');
  const full = pattern.includes('*') ? pattern : fullReference(pattern);
  return (image, names) => {
    if (names.full.includes(full)) return true;
    if ([names.listed, names.full].some((forms) => forms.some((name) => expression.test(name)))) return true;
    return looksLikeId(pattern) && bareId(image.id).startsWith(bareId(pattern));
  };
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
