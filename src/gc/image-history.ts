import type { Instant } from '../units/units.js';
import type { PlannedImage } from './inventory.js';

/** What is remembered of an image between passes. Mirrors the kubelet's image record. */
export interface ImageRecord {
  readonly firstSeen: Instant;
  /** When it was last seen in use; null = never since we watch. */
  readonly lastUsed: Instant | null;
}

/** What is remembered of all listed images, by id. */
export type ImageHistory = ReadonlyMap<string, ImageRecord>;

/**
 * One detection: images that are new get their time, those in use are used now, those no longer listed are forgotten.
 * Mirrors `detectImages`.
 */
export function trackImages(
  history: ImageHistory,
  images: readonly Pick<PlannedImage, 'id'>[],
  inUse: Pick<ReadonlyMap<string, unknown>, 'has'>,
  now: Instant,
): ImageHistory {
  return new Map(
    images.map(({ id }) => {
      const before = history.get(id);
      return [id, { firstSeen: before?.firstSeen ?? now, lastUsed: inUse.has(id) ? now : (before?.lastUsed ?? null) }];
    }),
  );
}
