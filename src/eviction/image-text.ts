import type { Bytes } from '../units/units.js';
import { bytesText } from './message.js';

/** What is said of images that are kept, and of rules that keep none: under pressure and without it in the same words. */
export type ImageNews =
  /** A container names an image that nobody knows: it protects nothing. */
  | { readonly kind: 'image-reference-unresolved'; readonly reference: string; readonly container: string }
  /** A rule of the operator that fits no image, as written. */
  | { readonly kind: 'protect-pattern-unused'; readonly pattern: string }
  /** An image that we removed was pulled again within minutes: it is kept for an hour. */
  | { readonly kind: 'image-came-back'; readonly image: string; readonly id: string; readonly why: string }
  /** What was to be freed could not be, and unused images are kept by the operator's rules. */
  | { readonly kind: 'protected-images-hold-space'; readonly images: number; readonly claimed: Bytes };

/** News of images as a sentence for people. */
export function imageNewsText(news: ImageNews): string {
  switch (news.kind) {
    case 'image-reference-unresolved':
      return `container ${news.container.slice(0, 13)} names an image that is not listed: ${news.reference}`;
    case 'protect-pattern-unused':
      return `a rule that protects images fits none: ${news.pattern}`;
    case 'image-came-back':
      return `image ${news.image} is kept for an hour, ${news.why}: somebody needs it`;
    case 'protected-images-hold-space':
      return (
        `not enough could be freed, and ${news.images} unused ${news.images === 1 ? 'image is' : 'images are'} kept by ` +
        `rules that protect images (${bytesText(news.claimed)} claimed)`
      );
  }
}
