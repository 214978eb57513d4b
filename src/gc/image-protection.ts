import { bareId, fullReference, looksLikeId } from './image-reference.js';
import type { PlannedImage } from './inventory.js';

/**
 * Tells whether a pattern protects an image. `*` stands for any run of characters, `/` and `:` included; all else is
 * literal; the whole of a tag, digest or id must fit, in the form listed or the full one. Twelve or more hex digits also fit
 * as the beginning of an id.
 */
export function compileProtection(patterns: readonly string[]): (image: PlannedImage) => string | null {
  const rules = patterns.map((pattern) => ({ pattern, matches: compile(pattern) }));
  return (image) => rules.find((rule) => rule.matches(image))?.pattern ?? null;
}

function compile(pattern: string): (image: PlannedImage) => boolean {
  const expression = new RegExp(`^${pattern.split('*').map(escape).join('.*')}$`, 's');
  const full = pattern.includes('*') ? pattern : fullReference(pattern);
  return (image) => {
    const names = [...image.tags, ...image.digests, image.id, bareId(image.id)];
    if (
      names.some(
        (name) => expression.test(name) || expression.test(fullReference(name)) || fullReference(name) === full,
      )
    ) {
      return true;
    }
    return looksLikeId(pattern) && bareId(image.id).startsWith(bareId(pattern));
  };
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
