import type { Bytes, Count, Instant, Milliseconds } from '../units/units.js';
import type { PlannedImage } from './inventory.js';

/** The rules of image collection (`ImageGCPolicy`). The marks are whole percents, low at most high, checked by the settings. */
export interface ImageRules {
  /** Disk usage at which a periodic run begins to free space. */
  readonly highPercent: number;
  /** Disk usage down to which it frees. */
  readonly lowPercent: number;
  readonly minAge: Milliseconds;
  /** Null = unused images do not go by age alone. */
  readonly maxAge: Milliseconds | null;
  /**
   * From when an image that was never seen in use ages: from ever, as in the kubelet, where one that was pulled just now is too
   * old at once; or from when it was first seen.
   */
  readonly neverUsedAgesFrom?: 'ever' | 'first-seen';
  /** Whether one id under two runtime handlers is two images (gate RuntimeClassInImageCriApi). */
  readonly runtimeHandlerAware: boolean;
}

/** When an image was seen, and used. */
export interface ImageTimes {
  /** The time given to the detection that saw it first. */
  readonly firstDetected: Instant;
  /** The last detection that found it in use; null = none did. */
  readonly lastUsed: Instant | null;
}

/** What is remembered of an image between passes. Mirrors the kubelet's `imageRecord`. */
export interface CollectionRecord extends ImageTimes {
  readonly size: Bytes;
  readonly pinned: boolean;
  /** Of the listing that made the record. */
  readonly runtimeHandler: string;
}

/** What an earlier life of the program knew of an image. `firstDetected` null = it was away for a time: it counts as new. */
export interface EarlierImage {
  readonly firstDetected: Instant | null;
  readonly lastUsed: Instant | null;
}

/** Looks up by record key what was known earlier; undefined = nothing. */
export type EarlierImages = (key: string) => EarlierImage | undefined;

/** Tells whether a record key is in use. */
export type KeysInUse = Pick<ReadonlySet<string>, 'has'>;

/** Record key → record. */
export type CollectionRecords = ReadonlyMap<string, CollectionRecord>;

/** An image as listed, with its runtime handler. */
export interface ListedImage extends PlannedImage {
  readonly runtimeHandler: string;
}

/** Records of this life with what turned out to be known from an earlier one. */
export function withEarlier(records: CollectionRecords, earlier: EarlierImages): Map<string, CollectionRecord> {
  return new Map(
    [...records].map(([key, record]) => {
      const known = earlier(key);
      if (known === undefined) return [key, record];
      const firstDetected = known.firstDetected ?? record.firstDetected;
      const lastUsed = record.lastUsed ?? known.lastUsed;
      return [
        key,
        {
          ...record,
          firstDetected: firstDetected < record.firstDetected ? firstDetected : record.firstDetected,
          lastUsed,
        },
      ];
    }),
  );
}

/** A record that may be removed. */
export interface ImageCandidate {
  readonly key: string;
  readonly id: string;
  readonly record: CollectionRecord;
}

/** The key of an image: its id, and its handler where handlers tell images apart. */
export function imageKey(id: string, runtimeHandler: string, isHandlerAware: boolean): string {
  return isHandlerAware && runtimeHandler !== '' ? `${id},${runtimeHandler}` : id;
}

/** The id of the image that a key names. */
export function idOf(key: string, isHandlerAware: boolean): string {
  return isHandlerAware ? (key.split(',', 1)[0] ?? '') : key;
}

/**
 * One detection: new images get `detectTime`, those in use are used `now`, those no longer listed are forgotten. Of two list
 * entries with one key the later decides size and pinning. Mirrors `detectImages`.
 */
export function recordDetection(
  records: CollectionRecords,
  images: readonly ListedImage[],
  inUse: KeysInUse,
  times: { readonly detectTime: Instant; readonly now: Instant },
  isHandlerAware: boolean,
  earlier?: EarlierImages,
): Map<string, CollectionRecord> {
  const next = new Map<string, CollectionRecord>();
  for (const image of images) {
    const key = imageKey(image.id, image.runtimeHandler, isHandlerAware);
    const before = records.get(key) ?? next.get(key);
    const known = before ?? earlier?.(key);
    const lastUsed = inUse.has(key) ? times.now : (known?.lastUsed ?? null);
    // Most of them are as they were.
    const isUnchanged = before?.lastUsed === lastUsed && before.size === image.size && before.pinned === image.pinned;
    next.set(
      key,
      isUnchanged
        ? before
        : {
            firstDetected: known?.firstDetected ?? times.detectTime,
            lastUsed,
            size: image.size,
            pinned: image.pinned,
            runtimeHandler: before?.runtimeHandler ?? image.runtimeHandler,
          },
    );
  }
  return next;
}

/** The candidates of a pass, and the keys that name no image. */
export interface Candidates {
  readonly candidates: readonly ImageCandidate[];
  readonly keysWithoutId: readonly string[];
}

/**
 * What may go, least recently used first: never used before used, then by first detection, then by key (the kubelet's order is
 * undefined there). Never what is in use or pinned. Mirrors `imagesInEvictionOrder`.
 */
export function imageCandidates(records: CollectionRecords, inUse: KeysInUse, isHandlerAware: boolean): Candidates {
  const unused = [...records]
    .filter(([key, record]) => !inUse.has(key) && !record.pinned)
    .map(([key, record]) => ({ key, id: idOf(key, isHandlerAware), record }));
  return {
    candidates: unused.filter((each) => !isHandlerAware || each.id !== '').toSorted(leastRecentlyUsed),
    keysWithoutId: isHandlerAware ? unused.filter((each) => each.id === '').map((each) => each.key) : [],
  };
}

/**
 * The candidates that go by age alone. Nothing is judged before the process has watched for longer than the maximum age: the
 * records do not survive a restart. The minimum age is not asked. Mirrors the choice of `freeOldImages`.
 */
export function tooOld(
  candidates: readonly ImageCandidate[],
  { maxAge, neverUsedAgesFrom = 'ever' }: Pick<ImageRules, 'maxAge' | 'neverUsedAgesFrom'>,
  times: { readonly freeTime: Instant; readonly gcBegan: Instant },
): readonly ImageCandidate[] {
  // What is remembered from before the start ages as well; the kubelet remembers nothing, so it waits.
  const mayNotKnow = neverUsedAgesFrom === 'ever' && maxAge !== null && times.freeTime - times.gcBegan <= maxAge;
  if (maxAge === null || mayNotKnow) return [];
  return candidates.filter(({ record }) => {
    if (neverUsedAgesFrom === 'ever') return times.freeTime - (record.lastUsed ?? Number.NEGATIVE_INFINITY) > maxAge;
    // One that was away and was pulled again has an old last use, and is new all the same.
    return times.freeTime - Math.max(record.lastUsed ?? Number.NEGATIVE_INFINITY, record.firstDetected) > maxAge;
  });
}

/** Why the space pass passes over a candidate; null = it goes. An age equal to the minimum is old enough. */
export function passedOver(
  { record }: ImageCandidate,
  freeTime: Instant,
  minAge: Milliseconds,
): 'used since the run began' | 'below the minimum age' | null {
  if (record.lastUsed !== null && record.lastUsed >= freeTime) return 'used since the run began';
  return freeTime - record.firstDetected < minAge ? 'below the minimum age' : null;
}

/** Space on the filesystem of images; null = nobody says. */
export interface ImageFsSpace {
  readonly available: Bytes | null;
  readonly capacity: Bytes | null;
  /** Absent or null = not asked for, or none are counted. */
  readonly inodeCounts?: { readonly free: Count; readonly total: Count } | null;
}

/** What a periodic run has to do about space. */
export type SpaceDemand =
  | { readonly kind: 'capacity-zero' }
  | { readonly kind: 'below-mark'; readonly usagePercent: number }
  /** `bytesToFree` can be zero or negative where the marks are equal; one image goes all the same. */
  | { readonly kind: 'free'; readonly usagePercent: number; readonly bytesToFree: number };

/**
 * The kubelet's arithmetic: free percent rounded down, so usage rounded up; reached at the high mark exactly; the target is the
 * low mark's share of capacity. What nobody says counts as 0; more available than there is counts as all of it.
 */
export function spaceDemand(space: ImageFsSpace, marks: Pick<ImageRules, 'highPercent' | 'lowPercent'>): SpaceDemand {
  const capacity = BigInt(space.capacity ?? 0);
  if (capacity === 0n) return { kind: 'capacity-zero' };
  const claimed = BigInt(space.available ?? 0);
  const available = claimed > capacity ? capacity : claimed;
  const usagePercent = 100 - Number((available * 100n) / capacity);
  if (usagePercent < marks.highPercent) return { kind: 'below-mark', usagePercent };
  const free = (capacity * BigInt(100 - marks.lowPercent)) / 100n;
  return { kind: 'free', usagePercent, bytesToFree: Number(free - available) };
}

function leastRecentlyUsed(a: ImageCandidate, b: ImageCandidate): number {
  // Two that were never used are equal: the difference of two infinities is no number.
  const byUse =
    a.record.lastUsed === b.record.lastUsed
      ? 0
      : (a.record.lastUsed ?? Number.NEGATIVE_INFINITY) - (b.record.lastUsed ?? Number.NEGATIVE_INFINITY);
  return byUse || a.record.firstDetected - b.record.firstDetected || (a.key < b.key ? -1 : 1);
}
