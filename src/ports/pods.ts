import type { PodSpec } from '../eviction/pod-spec.js';
import type { Bytes, Milliseconds } from '../units/units.js';
import type { ContainerRecord, SandboxRecord } from './runtime.js';

/** Where a pod definition came from (`kubernetes.io/config.source`); `null` when nobody says. */
export type PodSource = 'api' | 'file' | 'http';

/** One pod of this node, as far as the source knows it. A fact that it does not know is `null`, and decisions say so. */
export interface PodRecord {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly source: PodSource | null;
  readonly isMirror: boolean;
  readonly priority: number | null;
  /** Request of ephemeral storage, whole pod. */
  readonly storageRequest: Bytes | null;
  readonly memoryRequest: Bytes | null;
  /** What its author wrote; absent or null when nobody here knows: the runtime does not. Requests above then say what is known. */
  readonly spec?: PodSpec | null;
  readonly terminationGrace: Milliseconds | null;
  /** All containers have ended and none will start again (as far as can be told). */
  readonly isFinished: boolean;
  readonly containers: readonly ContainerRecord[];
  readonly sandboxes: readonly SandboxRecord[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** An image that a pod's author names. */
export interface WantedImage {
  /** `namespace/name` of the pod. */
  readonly pod: string;
  /** As written. */
  readonly reference: string;
}

/** What a source of pods could not say. The pods are listed all the same; what only that source knows is unknown. */
export interface PodsProblem {
  /** What could not be listed. */
  readonly what: string;
  readonly message: string;
}

/** Lists the pods of this node from what the runtime lists. */
export interface PodsPort {
  list(
    containers: readonly ContainerRecord[],
    sandboxes: readonly SandboxRecord[],
    signal?: AbortSignal,
  ): Promise<readonly PodRecord[]>;
  /**
   * What the latest listing met for the first time; asked again it is silent until something else goes wrong, or the same anew.
   * Absent where the runtime is the only source: then a failure rejects.
   */
  takeProblems?(): readonly PodsProblem[];
  /**
   * Whether the latest listing held every pod that is to run here, those that the runtime does not know yet included: then one that
   * was not listed is gone, at once. Absent = nobody can say.
   */
  knowsAll?(): boolean;
  /**
   * The images of all pods that are to run here and have not finished, those that the runtime does not know yet included: their
   * images may have been pulled. Absent where the runtime is the only source. A source that fails takes nothing away.
   */
  wantedImages?(signal?: AbortSignal): Promise<readonly WantedImage[]>;
}
