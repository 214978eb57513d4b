import { getOrMake } from '../units/get-or-make.js';
import { elapsed, type Instant, type Milliseconds } from '../units/units.js';
import type { ImageTimes } from './image-collection.js';
import type { ImageUse } from './image-use.js';
import type { PlannedImage } from './inventory.js';

/** Why an image goes or stays. */
export type ImageVerdict =
  | { readonly kind: 'goes'; readonly why: string }
  /** `isTooYoung`: for its age alone, so that it may go another time; else nothing takes it away. */
  | { readonly kind: 'stays'; readonly why: string; readonly isTooYoung: boolean };

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
  /** By image id. */
  readonly history: Pick<ReadonlyMap<string, ImageTimes>, 'get'>;
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
  const old = new UseGroups();
  const young = new UseGroups();
  const stays: JudgedImage[] = [];
  for (const item of input.images) {
    const forbidden = forbiddance(item, input.use, input.protectedBy);
    if (forbidden !== null) {
      stays.push({ item, verdict: { kind: 'stays', why: forbidden, isTooYoung: false } });
      continue;
    }
    const times = input.history.get(item.id);
    if (!isYoung(times, input)) old.add(item, times);
    else if (input.youngLast) young.add(item, times);
    else stays.push({ item, verdict: tooYoung(input.minAge) });
  }
  return [
    ...old.leastRecentlyUsedFirst((times) => usageOf(times, input.now)),
    ...young.leastRecentlyUsedFirst((times) => `${usageOf(times, input.now)}; below the minimum age, so last`),
    ...stays,
  ];
}

function tooYoung(minAge: Milliseconds): ImageVerdict {
  return { kind: 'stays', why: `below the minimum age of ${minAge / 1_000} s`, isTooYoung: true };
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

/** An image that nobody recorded was seen just now, never "forever ago". */
function isYoung(times: ImageTimes | undefined, { minAge, now }: ImagePlanInput): boolean {
  return times === undefined ? minAge > 0 : elapsed(times.firstDetected, now) < minAge;
}

function usageOf(times: ImageTimes | undefined, now: Instant): string {
  if (times === undefined) return 'unused, seen just now';
  if (times.lastUsed === null) return `unused since first seen ${seconds(times.firstDetected, now)} ago`;
  return `last used ${seconds(times.lastUsed, now)} ago`;
}

function seconds(from: Instant, to: Instant): string {
  return `${Math.round(elapsed(from, to) / 1_000)} s`;
}

/** Images that were used and seen at the same times: detections are few and images many. */
interface UseGroup {
  readonly times: ImageTimes | undefined;
  readonly images: PlannedImage[];
}

class UseGroups {
  /** By last use, then by first sight. */
  readonly #groups = new Map<number, Map<number, UseGroup>>();

  add(image: PlannedImage, times: ImageTimes | undefined): void {
    const bySight = getOrMake(this.#groups, times?.lastUsed ?? NEVER, newGroups);
    const seen = times?.firstDetected ?? JUST_NOW;
    const group = bySight.get(seen);
    if (group === undefined) bySight.set(seen, { times, images: [image] });
    else group.images.push(image);
  }

  leastRecentlyUsedFirst(whyOf: (times: ImageTimes | undefined) => string): readonly JudgedImage[] {
    return ascending(this.#groups).flatMap((bySight) =>
      ascending(bySight).flatMap(({ times, images }) => {
        const verdict: ImageVerdict = { kind: 'goes', why: whyOf(times) };
        return images.sort(byId).map((item) => ({ item, verdict }));
      }),
    );
  }
}

const NEVER = Number.NEGATIVE_INFINITY;
const JUST_NOW = Number.POSITIVE_INFINITY;

function newGroups(): Map<number, UseGroup> {
  return new Map();
}

function ascending<Value>(groups: ReadonlyMap<number, Value>): readonly Value[] {
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

function byId(a: PlannedImage, b: PlannedImage): number {
  return a.id < b.id ? -1 : 1;
}
