import { elapsed, type Instant, type Milliseconds } from '../units/units.js';
import type { ImageHistory, ImageRecord } from './image-history.js';
import type { ImageUse } from './image-use.js';
import type { PlannedImage } from './inventory.js';

/** Why an image goes or stays. */
export type ImageVerdict =
  | { readonly kind: 'goes'; readonly why: string }
  | { readonly kind: 'stays'; readonly why: string };

/** An image with its place in the plan; those that stay come after those that go. */
export interface JudgedImage {
  readonly item: PlannedImage;
  readonly verdict: ImageVerdict;
}

/** What the plan is made from. */
export interface ImagePlanInput {
  readonly images: readonly PlannedImage[];
  readonly use: ImageUse;
  readonly protectedBy: (image: PlannedImage) => string | null;
  readonly history: ImageHistory;
  readonly minAge: Milliseconds;
  /** Whether images below the minimum age go too, after all others: under hard pressure, before any pod. */
  readonly youngLast: boolean;
  readonly now: Instant;
}

/**
 * Unused images, least recently used first, ties by first detection, then by id. Never one that is in use, pinned or
 * protected. Mirrors the candidate list of `freeSpace` and of `DeleteUnusedImages`, which keeps young images even under
 * pressure.
 */
export function planImages(input: ImagePlanInput): readonly JudgedImage[] {
  const judged = input.images.map((item) => ({
    item,
    verdict: judge(item, input),
    record: input.history.get(item.id),
  }));
  const goes = judged.filter((each) => each.verdict.kind === 'goes');
  const old = goes.filter((each) => !isYoung(each.record, input));
  const young = goes.filter((each) => isYoung(each.record, input));
  const stays = judged.filter((each) => each.verdict.kind === 'stays');
  return [...old.toSorted(leastRecentlyUsed), ...young.toSorted(leastRecentlyUsed), ...stays].map(
    ({ item, verdict }) => ({ item, verdict }),
  );
}

/** Why an image must not be removed at all, whatever the pressure; null when nothing forbids it. */
export function forbiddance(
  image: PlannedImage,
  use: ImageUse,
  protectedBy: ImagePlanInput['protectedBy'],
): string | null {
  const user = use.users.get(image.id);
  if (user !== undefined) return user;
  if (image.pinned) return 'pinned by the runtime';
  const pattern = protectedBy(image);
  return pattern === null ? null : `protected by ${pattern}`;
}

function judge(image: PlannedImage, input: ImagePlanInput): ImageVerdict {
  const forbidden = forbiddance(image, input.use, input.protectedBy);
  if (forbidden !== null) return { kind: 'stays', why: forbidden };
  const record = input.history.get(image.id);
  if (!isYoung(record, input)) return { kind: 'goes', why: usageOf(record, input.now) };
  if (input.youngLast) return { kind: 'goes', why: `${usageOf(record, input.now)}; below the minimum age, so last` };
  return { kind: 'stays', why: `below the minimum age of ${input.minAge / 1_000} s` };
}

/** An image that nobody recorded was seen just now, never "forever ago". */
function isYoung(record: ImageRecord | undefined, { minAge, now }: ImagePlanInput): boolean {
  return record === undefined ? minAge > 0 : elapsed(record.firstSeen, now) < minAge;
}

function usageOf(record: ImageRecord | undefined, now: Instant): string {
  if (record === undefined) return 'unused, seen just now';
  if (record.lastUsed === null) return `unused since first seen ${seconds(record.firstSeen, now)} ago`;
  return `last used ${seconds(record.lastUsed, now)} ago`;
}

function seconds(from: Instant, to: Instant): string {
  return `${Math.round(elapsed(from, to) / 1_000)} s`;
}

interface Recorded {
  readonly item: PlannedImage;
  readonly record: ImageRecord | undefined;
}

function leastRecentlyUsed(a: Recorded, b: Recorded): number {
  return (
    (a.record?.lastUsed ?? Number.NEGATIVE_INFINITY) - (b.record?.lastUsed ?? Number.NEGATIVE_INFINITY) ||
    (a.record?.firstSeen ?? Number.POSITIVE_INFINITY) - (b.record?.firstSeen ?? Number.POSITIVE_INFINITY) ||
    (a.item.id < b.item.id ? -1 : 1)
  );
}
