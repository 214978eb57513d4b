import type {
  ContainerRecord,
  ContainerState,
  ContainerStatusRecord,
  ContainerUsage,
  ImageRecord,
  PodIdentity,
  RuntimeFilesystem,
  SandboxRecord,
} from '../../ports/runtime.js';
import type {
  Container,
  ContainerStats,
  ContainerStatus,
  FilesystemUsage,
  Image,
  PodSandbox,
  UInt64Value,
} from '../../proto/generated/cri.js';
import { type Bytes, bytes, type Count, count, type Instant, instant } from '../../units/units.js';

type Texts = Readonly<Record<string, string>>;

/** Labels by which the kubelet marks what is its own (`kubelet/types`). */
const POD_UID = 'io.kubernetes.pod.uid';
const POD_NAMESPACE = 'io.kubernetes.pod.namespace';
const POD_NAME = 'io.kubernetes.pod.name';

/** One for all: most containers of a long list carry an empty map or two. */
const EMPTY: Texts = Object.freeze({});

/** By number in the protocol; a number that is not known yet is `unknown`, which nothing treats as dead. */
const CONTAINER_STATES: readonly ContainerState[] = ['created', 'running', 'exited', 'unknown'];

/** A container as listed. `now` stands for a creation time that the runtime does not tell: unknown is young, never old. */
export function containerRecord(message: Container, now: Instant): ContainerRecord {
  return {
    id: message.id,
    sandboxId: message.podSandboxId,
    name: message.metadata?.name ?? '',
    attempt: message.metadata?.attempt ?? 0,
    state: CONTAINER_STATES[message.state] ?? 'unknown',
    createdAt: instantOf(message.createdAt) ?? now,
    imageId: message.imageId,
    imageRef: message.imageRef,
    image: message.image?.userSpecifiedImage || message.image?.image || '',
    runtimeHandler: message.image?.runtimeHandler ?? '',
    pod: podOf(message.labels),
    labels: textsOf(message.labels),
    annotations: textsOf(message.annotations),
  };
}

/** A sandbox as listed. Its pod is what the labels say, else what its metadata says (a sandbox made by hand). */
export function sandboxRecord(message: PodSandbox, now: Instant): SandboxRecord {
  const { uid = '', namespace = '', name = '', attempt = 0 } = message.metadata ?? {};
  return {
    id: message.id,
    pod: podOf(message.labels) ?? { uid, namespace, name },
    attempt,
    // Only what is said to be down is down: a state that is not known yet must not make it removable.
    state: message.state === 1 ? 'notready' : 'ready',
    createdAt: instantOf(message.createdAt) ?? now,
    runtimeHandler: message.runtimeHandler,
    labels: textsOf(message.labels),
    annotations: textsOf(message.annotations),
  };
}

/** An image as listed. A size beyond 2^53 is no size: it counts as unset, which protobuf writes as 0. */
export function imageRecord(message: Image): ImageRecord {
  return {
    id: message.id,
    tags: message.repoTags,
    digests: message.repoDigests,
    size: possible(message.size, bytes) ?? bytes(0),
    pinned: message.pinned,
    runtimeHandler: message.spec?.runtimeHandler ?? '',
  };
}

/** One entry of ImageFsInfo. */
export function runtimeFilesystem(message: FilesystemUsage): RuntimeFilesystem {
  return {
    mountpoint: message.fsId?.mountpoint || null,
    usedBytes: bytesOf(message.usedBytes),
    inodesUsed: countOf(message.inodesUsed),
    at: instantOf(message.timestamp),
  };
}

/** What ContainerStatus adds to the listing. */
export function containerStatusRecord(message: ContainerStatus): ContainerStatusRecord {
  return {
    id: message.id,
    state: CONTAINER_STATES[message.state] ?? 'unknown',
    logPath: message.logPath,
    exitCode: message.exitCode,
    reason: message.reason,
    startedAt: instantOf(message.startedAt),
    finishedAt: instantOf(message.finishedAt),
    imageVolumes: message.mounts.map((mount) => mount.image?.image ?? '').filter((image) => image !== ''),
    annotations: textsOf(message.annotations),
  };
}

/**
 * Usage of one container. A timestamp of 0 means that the runtime has not looked yet, and a number beyond 2^53 that its
 * arithmetic went below zero: both are unknown.
 */
export function containerUsage(message: ContainerStats): ContainerUsage {
  const layer = message.writableLayer;
  const at = layer === undefined ? null : instantOf(layer.timestamp);
  const used = bytesOf(layer?.usedBytes);
  const memory = message.memory;
  return {
    id: message.attributes?.id ?? '',
    writableLayer: at === null || used === null ? null : { used, inodes: countOf(layer?.inodesUsed), at },
    memoryWorkingSet: memory === undefined || memory.timestamp <= 0n ? null : bytesOf(memory.workingSetBytes),
  };
}

/** Nanoseconds since the epoch, to the microsecond (all that a double holds); null for 0, CRI's "never" and "unknown". */
export function instantOf(nanoseconds: bigint): Instant | null {
  return nanoseconds <= 0n ? null : instant(Number(nanoseconds / 1000n) / 1000);
}

function podOf(labels: Texts): PodIdentity | null {
  const uid = labels[POD_UID];
  const namespace = labels[POD_NAMESPACE];
  const name = labels[POD_NAME];
  return uid && namespace && name ? { uid, namespace, name } : null;
}

function textsOf(map: Texts): Texts {
  for (const _key in map) return map;
  return EMPTY;
}

function bytesOf(value: UInt64Value | undefined): Bytes | null {
  return value === undefined ? null : possible(value.value, bytes);
}

function countOf(value: UInt64Value | undefined): Count | null {
  return value === undefined ? null : possible(value.value, count);
}

function possible<T>(value: bigint, brand: (value: number) => T): T | null {
  return value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER) ? brand(Number(value)) : null;
}
