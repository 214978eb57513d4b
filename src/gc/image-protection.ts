import { compileGlob } from './image-pattern.js';
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

/** All names of an image, in the form listed and in the full one; and its id, with its algorithm and without. */
export function namesOf({ id, tags, digests }: PlannedImage): readonly string[] {
  // An id has no full form: made one it would lie in the library of the default registry.
  const names = [id, bareId(id)];
  for (const references of [tags, digests]) {
    for (const listed of references) {
      const full = fullReference(listed);
      names.push(full);
      if (full !== listed) names.push(listed);
    }
  }
  return names;
}

/** Whether one pattern fits an image. See `compileProtection`. */
export function compilePattern(pattern: string): (image: PlannedImage, names: readonly string[]) => boolean {
  if (pattern.includes('*')) {
    const fits = compileGlob(pattern);
    return (_image, names) => names.some(fits);
  }
  const full = fullReference(pattern);
  const beginning = looksLikeId(pattern) ? bareId(pattern) : null;
  return (image, names) =>
    names.includes(pattern) || names.includes(full) || (beginning !== null && bareId(image.id).startsWith(beginning));
}
