import type { RuntimeServiceServer } from '../proto/generated/cri.js';
import {
  CgroupDriver,
  type ContainerStats,
  type ContainerStatsFilter,
  type PodSandboxStats,
  type PodSandboxStatsFilter,
} from '../proto/generated/cri.js';
import { type Calls, unimplemented } from './calls.js';
import type { Containers } from './containers.js';
import type { Events } from './events.js';
import { containerStatsMessage, containerStatusMessage, sandboxStatsMessage } from './messages.js';
import { nanoseconds } from './records.js';
import type { Sandboxes } from './sandboxes.js';
import type { RuntimeState } from './state.js';
import type { Stats } from './stats.js';
import { aborted } from './waiting.js';

/** Items in one message of a Stream* call, as containerd sends them. */
export const STREAM_BATCH = 5000;

/** The parts that RuntimeService is made of. */
export interface RuntimeParts {
  readonly state: RuntimeState;
  readonly containers: Containers;
  readonly sandboxes: Sandboxes;
  readonly stats: Stats;
  readonly events: Events;
}

/** RuntimeService, every call of it. */
export function runtimeService(
  calls: Calls,
  { state, containers, sandboxes, stats, events }: RuntimeParts,
): RuntimeServiceServer {
  const { traits } = state;
  const statsOf = (filter: ContainerStatsFilter | undefined): ContainerStats[] =>
    state.random
      .shuffled(containers.find(filter))
      .map((container) => containerStatsMessage(state, container, stats.layersPath));
  const sandboxStatsOf = (filter: PodSandboxStatsFilter | undefined): PodSandboxStats[] =>
    state.random
      .shuffled(sandboxes.find(filter))
      .map((sandbox) =>
        sandboxStatsMessage(state, sandbox, statsOf({ id: '', podSandboxId: sandbox.id, labelSelector: {} })),
      );

  return {
    version: calls.unary('Version', () => ({
      version: '0.1.0',
      runtimeName: traits.runtimeName,
      runtimeVersion: traits.runtimeVersion,
      runtimeApiVersion: 'v1',
    })),
    status: calls.unary('Status', () => ({
      status: {
        conditions: [
          { type: 'RuntimeReady', status: true, reason: '', message: '' },
          { type: 'NetworkReady', status: true, reason: '', message: '' },
        ],
      },
      info: {},
    })),
    runtimeConfig: calls.unary('RuntimeConfig', () => {
      if (!traits.runtimeConfig) throw unimplemented('RuntimeConfig');
      return { linux: { cgroupDriver: CgroupDriver.CGROUPFS } };
    }),

    listPodSandbox: calls.unary('ListPodSandbox', ({ filter }) => ({ items: sandboxes.list(filter) })),
    streamPodSandboxes: calls.stream('StreamPodSandboxes', traits.streams, async ({ filter }, send) => {
      for (const podSandboxes of batches(sandboxes.list(filter))) send({ podSandboxes });
    }),
    podSandboxStatus: calls.unary('PodSandboxStatus', ({ podSandboxId }) => ({
      status: sandboxes.status(podSandboxId),
      info: {},
      containersStatuses: traits.events
        ? containers
            .find({ id: '', podSandboxId, labelSelector: {} })
            .map((container) => containerStatusMessage(state, container))
        : [],
      timestamp: nanoseconds(state.now()),
    })),
    runPodSandbox: calls.unary('RunPodSandbox', async (request) => ({ podSandboxId: await sandboxes.run(request) })),
    stopPodSandbox: calls.unary('StopPodSandbox', async ({ podSandboxId }) => {
      await sandboxes.stop(podSandboxId);
      return {};
    }),
    removePodSandbox: calls.unary('RemovePodSandbox', async ({ podSandboxId }) => {
      await sandboxes.remove(podSandboxId);
      return {};
    }),

    listContainers: calls.unary('ListContainers', ({ filter }) => ({ containers: containers.list(filter) })),
    streamContainers: calls.stream('StreamContainers', traits.streams, async ({ filter }, send) => {
      for (const batch of batches(containers.list(filter))) send({ containers: batch });
    }),
    containerStatus: calls.unary('ContainerStatus', ({ containerId }) => ({
      status: containers.status(containerId),
      info: {},
    })),
    createContainer: calls.unary('CreateContainer', async (request) => ({
      containerId: await containers.create(request),
    })),
    startContainer: calls.unary('StartContainer', async ({ containerId }) => {
      await containers.start(containerId);
      return {};
    }),
    stopContainer: calls.unary('StopContainer', async ({ containerId, timeout }, signal) => {
      await containers.stop(containerId, Number(timeout), signal);
      return {};
    }),
    removeContainer: calls.unary('RemoveContainer', async ({ containerId }) => {
      await containers.remove(containerId);
      return {};
    }),
    reopenContainerLog: calls.unary('ReopenContainerLog', async ({ containerId }) => {
      await containers.reopenLog(containerId);
      return {};
    }),

    containerStats: calls.unary('ContainerStats', ({ containerId }) => ({
      stats: containerStatsMessage(state, containers.get(containerId), stats.layersPath),
    })),
    listContainerStats: calls.unary('ListContainerStats', ({ filter }) => ({ stats: statsOf(filter) })),
    streamContainerStats: calls.stream('StreamContainerStats', traits.streams, async ({ filter }, send) => {
      for (const containerStats of batches(statsOf(filter))) send({ containerStats });
    }),
    podSandboxStats: calls.unary('PodSandboxStats', ({ podSandboxId }) => {
      const sandbox = sandboxes.get(podSandboxId);
      return { stats: sandboxStatsMessage(state, sandbox, statsOf({ id: '', podSandboxId, labelSelector: {} })) };
    }),
    listPodSandboxStats: calls.unary('ListPodSandboxStats', ({ filter }) => ({ stats: sandboxStatsOf(filter) })),

    getContainerEvents: calls.stream('GetContainerEvents', traits.events, async (_request, send, signal) => {
      const unsubscribe = events.subscribe(send);
      await aborted(signal);
      unsubscribe();
    }),
  };
}

/** The items in messages of at most a batch; none for no items. */
export function batches<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / STREAM_BATCH) }, (_, number) =>
    items.slice(number * STREAM_BATCH, (number + 1) * STREAM_BATCH),
  );
}
