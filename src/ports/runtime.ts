import type { Bytes, Count, Instant, Milliseconds } from '../units/units.js';
import type { LogReopener } from './log-files.js';
import { PortError } from './port-error.js';

/** State of a container as CRI v1 names it, without the prefix. */
export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** The pod that a container or sandbox says it belongs to (the kubelet's `io.kubernetes.pod.*` labels). */
export interface PodIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** A container as listed. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  /** Name within the pod (CRI metadata). */
  readonly name: string;
  readonly attempt: number;
  readonly state: ContainerState;
  /** The runtime's wall clock. */
  readonly createdAt: Instant;
  /** Image id; empty on runtimes older than Kubernetes 1.30's CRI. */
  readonly imageId: string;
  /** Image reference as the runtime resolved it: an id or a digest, by runtime. */
  readonly imageRef: string;
  /** Image reference as the user wrote it. */
  readonly image: string;
  /** Runtime class handler the image belongs to; empty = default. */
  readonly runtimeHandler: string;
  /** Null when it carries no pod identity: somebody else's container, never removed. */
  readonly pod: PodIdentity | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A pod sandbox as listed. */
export interface SandboxRecord {
  readonly id: string;
  readonly pod: PodIdentity;
  readonly attempt: number;
  readonly state: 'ready' | 'notready';
  readonly createdAt: Instant;
  readonly runtimeHandler: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** An image as listed. */
export interface ImageRecord {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** Claimed by the runtime: neither unique to the image nor what its removal frees. */
  readonly size: Bytes;
  /** The runtime asks not to collect it. Advice only: the runtime removes it when told to. */
  readonly pinned: boolean;
  readonly runtimeHandler: string;
}

/** Where the runtime keeps images and writable layers. Paths may be directories inside a mount. */
export interface ImageFsInfo {
  readonly imageFilesystems: readonly RuntimeFilesystem[];
  readonly containerFilesystems: readonly RuntimeFilesystem[];
}

/** One entry of CRI ImageFsInfo. `usedBytes` is the runtime's own cached count, never the filesystem's. */
export interface RuntimeFilesystem {
  readonly mountpoint: string | null;
  readonly usedBytes: Bytes | null;
  readonly inodesUsed: Count | null;
  readonly at: Instant | null;
}

/** What ContainerStatus adds to the listing. */
export interface ContainerStatusRecord {
  readonly id: string;
  readonly state: ContainerState;
  /** Absolute path of the current log file; empty when there is none. */
  readonly logPath: string;
  readonly exitCode: number;
  readonly reason: string;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
  /** Ids or references of images mounted as volumes: in use, and seen nowhere else. */
  readonly imageVolumes: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** Writable layer of a container. CRI's timestamp 0 means "unknown", which is `null` here, never zero bytes. */
export interface ContainerUsage {
  readonly id: string;
  readonly writableLayer: { readonly used: Bytes; readonly inodes: Count | null; readonly at: Instant } | null;
  readonly memoryWorkingSet: Bytes | null;
}

/** What the runtime is. */
export interface RuntimeIdentity {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
}

/**
 * Why a runtime call failed. One table (`adapters/cri/errors.ts`) maps gRPC status and message onto these.
 * - `unavailable`: nobody answers the socket, or the connection broke; the call may or may not have been carried out.
 * - `deadline`: no answer in time; what was asked may still happen.
 * - `cancelled`: we gave up ourselves.
 * - `not-found`, `unimplemented`, `permission-denied`, `too-large`: as they say.
 * - `busy`: the object is being changed by another call ("already in removing state").
 * - `still-running`: a removal was refused as the container is believed to run: on a full disk it may be dead, its exit not recorded.
 * - `no-space`: the runtime itself found the disk full.
 * - `without-effect`: the call succeeded, and what it was to remove is still there.
 * - `failed`: anything else.
 */
export type RuntimeErrorKind =
  | 'unavailable'
  | 'deadline'
  | 'cancelled'
  | 'not-found'
  | 'unimplemented'
  | 'permission-denied'
  | 'too-large'
  | 'busy'
  | 'still-running'
  | 'no-space'
  | 'without-effect'
  | 'failed';

/** A failed runtime call. `call` is the CRI method, `target` the id it was about, if any. */
export class RuntimeError extends PortError {
  override readonly name = 'RuntimeError';
  readonly kind: RuntimeErrorKind;
  readonly call: string;
  readonly target: string | null;

  constructor(
    message: string,
    facts: {
      readonly kind: RuntimeErrorKind;
      readonly call: string;
      readonly target?: string;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.kind = facts.kind;
    this.call = facts.call;
    this.target = facts.target ?? null;
  }
}

/**
 * A container runtime. Every method rejects with a `RuntimeError`, has a deadline of its own, and stops when `signal` aborts.
 * Removing what is gone already succeeds.
 */
export interface RuntimePort extends LogReopener {
  identify(signal?: AbortSignal): Promise<RuntimeIdentity>;
  listContainers(signal?: AbortSignal): Promise<readonly ContainerRecord[]>;
  listSandboxes(signal?: AbortSignal): Promise<readonly SandboxRecord[]>;
  listImages(signal?: AbortSignal): Promise<readonly ImageRecord[]>;
  imageFsInfo(signal?: AbortSignal): Promise<ImageFsInfo>;
  /** Null when the container is gone. Rejects with a `PortError` when the answer holds no status: nothing is known then. */
  containerStatus(id: string, signal?: AbortSignal): Promise<ContainerStatusRecord | null>;
  /** Null when no image answers to the reference. */
  imageStatus(reference: string, signal?: AbortSignal): Promise<ImageRecord | null>;
  /** Usage of all containers, dead ones included where the runtime reports them. */
  listContainerUsage(signal?: AbortSignal): Promise<readonly ContainerUsage[]>;
  /** Asks for the end within `grace` (rounded up to whole seconds; 0 = kill at once). The deadline is grace plus a margin. */
  stopContainer(id: string, grace: Milliseconds, signal?: AbortSignal): Promise<void>;
  removeContainer(id: string, signal?: AbortSignal): Promise<void>;
  stopSandbox(id: string, signal?: AbortSignal): Promise<void>;
  removeSandbox(id: string, signal?: AbortSignal): Promise<void>;
  /** Removes the image with all its tags and digests. The runtime does not ask whether it is in use: the caller must. */
  removeImage(id: string, signal?: AbortSignal): Promise<void>;
  /**
   * Makes the runtime free now what removed containers have left behind, and waits until it has. False: it has no such call,
   * and frees when it likes.
   */
  freeRemoved(signal?: AbortSignal): Promise<boolean>;
  /** Lifecycle events as hints to list again; ends quietly where the runtime has none. `ready` is called once when subscribed. */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;
}

/** A container or sandbox changed. A hint, never the truth: list again. */
export interface RuntimeEvent {
  readonly id: string;
  readonly kind: 'subscribed' | 'created' | 'started' | 'stopped' | 'deleted';
}
