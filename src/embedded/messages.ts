import {
  Container,
  ContainerState,
  ContainerStats,
  ContainerStatus,
  type FilesystemUsage,
  PodSandbox,
  PodSandboxStats,
  PodSandboxStatus,
} from '../proto/generated/cri.js';
import { type ContainerRecord, type LayerSample, nanoseconds, type SandboxRecord } from './records.js';
import type { RuntimeState } from './state.js';

/** The line of a container in ListContainers. */
export function containerMessage(state: RuntimeState, container: ContainerRecord): Container {
  const { config } = container;
  return Container.fromPartial({
    id: container.id,
    podSandboxId: container.sandboxId,
    metadata: config.metadata,
    image: { image: config.image?.image ?? '' },
    imageRef: container.imageId,
    state: container.state,
    createdAt: container.createdAt,
    labels: config.labels,
    annotations: config.annotations,
    imageId: state.traits.imageId ? container.imageId : '',
  });
}

/** All that is known of a container; the one answer with its log path and its mounts. */
export function containerStatusMessage(state: RuntimeState, container: ContainerRecord): ContainerStatus {
  const { config } = container;
  const exited = container.state === ContainerState.CONTAINER_EXITED;
  return ContainerStatus.fromPartial({
    id: container.id,
    metadata: config.metadata,
    state: container.state,
    createdAt: container.createdAt,
    startedAt: container.startedAt,
    finishedAt: container.finishedAt,
    exitCode: container.exitCode,
    image: { image: config.image?.image ?? '' },
    imageRef: container.imageId,
    reason: exited ? (container.exitCode === 0 ? 'Completed' : 'Error') : '',
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: container.logPath,
    imageId: state.traits.imageId ? container.imageId : '',
  });
}

/** The line of a sandbox in ListPodSandbox. */
export function sandboxMessage(sandbox: SandboxRecord): PodSandbox {
  return PodSandbox.fromPartial({
    id: sandbox.id,
    metadata: sandbox.config.metadata,
    state: sandbox.state,
    createdAt: sandbox.createdAt,
    labels: sandbox.config.labels,
    annotations: sandbox.config.annotations,
    runtimeHandler: sandbox.runtimeHandler,
  });
}

/** The status of a sandbox. */
export function sandboxStatusMessage(sandbox: SandboxRecord): PodSandboxStatus {
  return PodSandboxStatus.fromPartial(sandboxMessage(sandbox));
}

/** What was sampled of a container; memory and CPU are those of a process that does nothing but write. */
export function containerStatsMessage(
  state: RuntimeState,
  container: ContainerRecord,
  mountpoint: string,
): ContainerStats {
  const running = container.state === ContainerState.CONTAINER_RUNNING;
  const timestamp = nanoseconds(state.now());
  return ContainerStats.fromPartial({
    attributes: {
      id: container.id,
      metadata: container.config.metadata,
      labels: container.config.labels,
      annotations: container.config.annotations,
    },
    cpu: running ? { timestamp, usageCoreNanoSeconds: { value: 0n } } : undefined,
    memory: running ? { timestamp, workingSetBytes: { value: 4_194_304n } } : undefined,
    writableLayer: usageMessage(container.sample, mountpoint),
  });
}

/** The statistics of a sandbox with those of its containers. */
export function sandboxStatsMessage(
  state: RuntimeState,
  sandbox: SandboxRecord,
  containers: readonly ContainerStats[],
): PodSandboxStats {
  return PodSandboxStats.fromPartial({
    attributes: {
      id: sandbox.id,
      metadata: sandbox.config.metadata,
      labels: sandbox.config.labels,
      annotations: sandbox.config.annotations,
    },
    linux: {
      process: { timestamp: nanoseconds(state.now()), processCount: { value: 1n } },
      containers: [...containers],
    },
  });
}

/** A sample as CRI tells it: a sample that was never taken has timestamp 0 beside its zero bytes. */
export function usageMessage(sample: LayerSample, mountpoint: string): FilesystemUsage {
  return {
    timestamp: sample.timestamp,
    fsId: { mountpoint },
    usedBytes: { value: sample.bytes },
    inodesUsed: { value: sample.inodes },
  };
}
