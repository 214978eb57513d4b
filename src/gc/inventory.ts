import type { Bytes, Instant } from '../units/units.js';

/** A container as the planners see it; the runtime port's record fits. */
export interface PlannedContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly createdAt: Instant;
  /** Null: somebody else's container, never touched. */
  readonly pod: { readonly uid: string; readonly namespace: string; readonly name: string } | null;
}

/** A container with what it says of its image. */
export interface ImageUser {
  readonly id: string;
  readonly imageId: string;
  readonly imageRef: string;
  readonly image: string;
  readonly runtimeHandler: string;
}

/** An image as the planners see it. */
export interface PlannedImage {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** Claimed by the runtime. */
  readonly size: Bytes;
  readonly pinned: boolean;
}

/** What people call an image: its tag, else its digest, else its id. */
export function imageLabel({ id, tags, digests }: PlannedImage): string {
  return tags[0] ?? digests[0] ?? id;
}

/** A sandbox as the planners see it. */
export interface PlannedSandbox {
  readonly id: string;
  readonly pod: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly state: 'ready' | 'notready';
  readonly createdAt: Instant;
}

/**
 * What is known of the pods, as two questions of the kubelet's pod worker. A manager that is no kubelet answers from its own
 * knowledge; "no" is the careful answer.
 */
export interface PodAnswers {
  /** Every source of pods has delivered; until then an unknown pod may just not have been seen yet. */
  readonly allSourcesReady: boolean;
  /** `ShouldPodContentBeRemoved`: the pod is gone, or was evicted. */
  contentMayBeRemoved(uid: string): boolean;
  /** `ShouldPodRuntimeBeRemoved`: all of the pod's containers have ended for good. */
  runtimeMayBeRemoved(uid: string): boolean;
}

/** An entry of a plan: what goes and why, in the order of the plan. */
export interface Planned<Item, Why extends string> {
  readonly item: Item;
  readonly why: Why;
}
