import { expressionOfGlob } from './image-pattern.js';
import { bareId, fullReference, looksLikeId } from './image-reference.js';
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
export interface ImageNames {
  readonly listed: readonly string[];
  readonly full: readonly string[];
}

/** The names that patterns are held against. */
export function namesOf(image: PlannedImage): ImageNames {
  const references = [...image.tags, ...image.digests];
  // An id has no full form: made one it would lie in the library of the default registry.
  return { listed: [...references, image.id, bareId(image.id)], full: references.map(fullReference) };
}

/** Whether one pattern fits an image. See `compileProtection`. */
export function compilePattern(pattern: string): (image: PlannedImage, names: ImageNames) => boolean {
  const expression = expressionOfGlob(pattern);
  const full = pattern.includes('*') ? pattern : fullReference(pattern);
  return (image, names) => {
    if (names.full.includes(full)) return true;
    if ([names.listed, names.full].some((forms) => forms.some((name) => expression.test(name)))) return true;
    return looksLikeId(pattern) && bareId(image.id).startsWith(bareId(pattern));
  };
}
