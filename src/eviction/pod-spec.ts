import type { Quantity } from '../units/quantity.js';

/** Amounts by resource name (`cpu`, `memory`, `ephemeral-storage`, `hugepages-2Mi`). What is not there is not set. */
export type Amounts = Readonly<Record<string, Quantity>>;

/**
 * What a container is to its pod. A sidecar is an init container that is restarted always; an ephemeral one is put in by hand
 * for debugging and has neither requests nor limits.
 */
export type ContainerKind = 'regular' | 'init' | 'sidecar' | 'ephemeral';

/** What a pod's author wrote of one container. */
export interface ContainerSpec {
  readonly name: string;
  readonly kind: ContainerKind;
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** A volume of a pod, as far as its use of a disk is concerned. */
export type VolumeSpec =
  | {
      readonly kind: 'emptyDir';
      readonly name: string;
      /** Empty = the node's disk; `Memory` and the huge pages are others. */
      readonly medium: string;
      /** Null = none. */
      readonly sizeLimit: Quantity | null;
    }
  /** `other`: claimed volumes, secrets, projected and the like. */
  | { readonly kind: 'configMap' | 'gitRepo' | 'hostPath' | 'other'; readonly name: string };

/** A taint that a pod puts up with. A key of null stands for every taint. */
export interface Toleration {
  readonly key: string | null;
  readonly operator: 'Exists' | 'Equal';
  readonly value: string;
  /** Null = every effect. */
  readonly effect: string | null;
}

/** What a pod's author wrote, as far as evictions ask for it; nobody but the API server or a manifest knows it. */
export interface PodSpec {
  /** Init containers and sidecars in the order in which they are written, since that one decides what they may use. */
  readonly containers: readonly ContainerSpec[];
  /** Requests and limits of the pod as a whole. */
  readonly podRequests: Amounts;
  readonly podLimits: Amounts;
  /** What the sandbox itself takes, by its runtime class. */
  readonly overhead: Amounts;
  readonly volumes: readonly VolumeSpec[];
  readonly tolerations: readonly Toleration[];
}

/**
 * The volumes whose content lies on the node's own disk and counts as the pod's. Mirrors `localVolumeNames`: a memory-backed
 * emptyDir, a secret and a claimed volume do not.
 */
export function localVolumeNames(spec: PodSpec): ReadonlySet<string> {
  return new Set(
    spec.volumes
      .filter((volume) => (volume.kind === 'emptyDir' ? volume.medium === '' : volume.kind !== 'other'))
      .map(({ name }) => name),
  );
}
