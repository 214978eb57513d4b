import type { ImageCandidate, KeysInUse } from '../gc/image-collection.js';
import type { ContainerRecord, ImageRecord } from '../ports/runtime.js';
import type { Bytes } from '../units/units.js';

/** What ended an image run. */
export type ImageFailure =
  | 'list-images'
  | 'list-containers'
  | 'container-status'
  | 'image-fs'
  | 'capacity-zero'
  | 'age-removal-failed'
  | 'space-removal-failed'
  | 'not-enough-freed'
  | 'aborted';

/** A failed run: its kind, what to say, and what was thrown, if anything was. */
export interface ImageCollectionError {
  readonly kind: ImageFailure;
  readonly message: string;
  readonly cause: Error | null;
}

/** One detection: what is there and in use, by record key. */
export interface Detection {
  readonly images: readonly ImageRecord[];
  readonly containers: readonly ContainerRecord[];
  readonly inUse: KeysInUse;
}

/** Candidates with what was listed when they were chosen. */
export interface CandidateList extends Detection {
  readonly candidates: readonly ImageCandidate[];
  /** What people call the images, by id. */
  readonly labels: ReadonlyMap<string, string>;
  /** What would be candidates but for rules of the operator; absent = nothing. */
  readonly keptByRules?: readonly ImageCandidate[];
}

/** What a pass over candidates did. */
export interface PassResult {
  readonly error: ImageCollectionError | null;
  /** Claimed sizes of what was removed. */
  readonly freed: Bytes;
  /** Ids that were passed over or failed, in order; empty after a failed removal. */
  readonly kept: readonly string[];
}

/** What a periodic run did. The two numbers are null where no space was to be freed. */
export interface CollectResult {
  readonly error: ImageCollectionError | null;
  readonly usagePercent: number | null;
  readonly bytesToFree: number | null;
  readonly freed: Bytes;
}

/** A list of candidates, or why there is none. */
export type Listed<T> = { readonly kind: 'listed'; readonly list: T } | FailedListing;
/** Why there is none. */
export type FailedListing = { readonly kind: 'failed'; readonly error: ImageCollectionError };
