import { compileGlob } from './image-pattern.js';
import { bareId, fullReference, isFull, looksLikeId } from './image-reference.js';
import type { PlannedImage } from './inventory.js';

/**
 * Tells whether a pattern protects an image. `*` stands for any run of characters, `/` and `:` included; all else is
 * literal; the whole of a tag, digest or id must fit, in the form listed or the full one. Twelve or more hex digits also fit
 * as the beginning of an id.
 */
export function compileProtection(patterns: readonly string[]): (image: PlannedImage) => string | null {
  const rules = patterns.map((pattern) => ({ pattern, matches: compilePattern(pattern) }));
  if (rules.length === 0) return () => null;
  return (image) => {
    // Made once for all patterns.
    const names = namesOf(image);
    return rules.find((rule) => rule.matches(image, names))?.pattern ?? null;
  };
}

/** All names of an image, in the form listed and in the full one. */
export function namesOf({ tags, digests }: PlannedImage): readonly string[] {
  const listed = tags.concat(digests);
  return listed.every(isFull) ? listed : listed.concat(listed.map(fullReference));
}

/** Whether one pattern fits an image. See `compileProtection`. An id has no full form, and no slash. */
export function compilePattern(pattern: string): (image: PlannedImage, names: readonly string[]) => boolean {
  const mayFitIds = !pattern.includes('/');
  if (pattern.includes('*')) {
    const fits = compileGlob(pattern);
    return ({ id }, names) => names.some(fits) || (mayFitIds && (fits(id) || fits(bareId(id))));
  }
  const full = fullReference(pattern);
  const beginning = looksLikeId(pattern) ? bareId(pattern) : null;
  return ({ id }, names) =>
    names.includes(full) ||
    names.includes(pattern) ||
    (mayFitIds && (id === pattern || bareId(id) === pattern)) ||
    (beginning !== null && bareId(id).startsWith(beginning));
}
