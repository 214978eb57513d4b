import type { ImageConfigsPort } from '../../ports/image-configs.js';
import { PortError } from '../../ports/port-error.js';
import { RuntimeError, type RuntimePort } from '../../ports/runtime.js';
import {
  type Container,
  type ContainerStats,
  type Image,
  ImageServiceService as images,
  ListContainerStatsResponse,
  ListContainersResponse,
  ListImagesResponse,
  ListPodSandboxResponse,
  type PodSandbox,
  RuntimeServiceService as runtime,
  StreamContainerStatsResponse,
  StreamContainersResponse,
  StreamImagesResponse,
  StreamPodSandboxesResponse,
} from '../../proto/generated/cri.js';
import type { Instant, Milliseconds } from '../../units/units.js';
import { type CallOptions, type Method, openConnection } from './connection.js';
import { DEFAULT_REQUEST_TIMEOUT, deadlinesFor, stopTimes } from './deadlines.js';
import { parseEndpoint } from './endpoint.js';
import { containerEvents } from './events.js';
import { freeRemoved } from './free-removed.js';
import { imageConfigOf } from './image-config.js';
import { InterningReader, StringTable } from './interning-reader.js';
import { streamedList } from './lists.js';
import {
  containerRecord,
  containerStatusRecord,
  containerUsage,
  imageRecord,
  runtimeFilesystem,
  sandboxRecord,
} from './records.js';

/** Largest answer that is taken, as the kubelet's: some 16,000 containers in one unary list. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** How to reach a runtime. */
export interface RuntimeConnectionOptions {
  /** See `parseEndpoint`. */
  readonly endpoint: string;
  /** The longest that any call but a stop may take; 2 minutes unless said. */
  readonly requestTimeout?: Milliseconds;
  readonly maxMessageBytes?: number;
  /** The wall clock (`Clock.wall`): grpc-js compares deadlines with it, and the runtime stamps by it. */
  readonly now: () => Instant;
}

/** Whether the runtime can run containers. Its other conditions (network, deprecations) do not count. */
export interface RuntimeHealth {
  readonly ready: boolean;
  /** What the runtime gives as reason when it is not ready; else empty. */
  readonly reason: string;
}

/** A runtime that is spoken to over CRI v1. Closing it cancels what is under way; the process may then end. */
export interface CriRuntime extends RuntimePort, ImageConfigsPort, AsyncDisposable {
  /** `unix:///…` */
  readonly endpoint: string;
  /** Rejects with a `RuntimeError` when the runtime cannot be asked. */
  health(signal?: AbortSignal): Promise<RuntimeHealth>;
  close(): Promise<void>;
}

/**
 * Makes a runtime out of an endpoint. Nothing is dialled before the first call, so this succeeds while the runtime is down;
 * throws a `PortError` when the endpoint is none.
 */
export function connectRuntime(options: RuntimeConnectionOptions): CriRuntime {
  const { now, requestTimeout = DEFAULT_REQUEST_TIMEOUT, maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options;
  const connection = openConnection(parseEndpoint(options.endpoint), maxMessageBytes, now);
  const deadlines = deadlinesFor(requestTimeout);
  const strings = new StringTable();

  const quick = (signal?: AbortSignal, target?: string): CallOptions => ({ timeout: deadlines.quick, signal, target });
  const list = (signal?: AbortSignal): CallOptions => ({ timeout: deadlines.list, signal });
  const change = (target: string, signal?: AbortSignal): CallOptions => ({ timeout: deadlines.change, signal, target });

  /** The method with a decoder that keeps one copy of each string. */
  const interned = <Request, Response>(
    method: Method<Request, Response>,
    message: { decode(input: InterningReader): Response },
  ): Method<Request, Response> => ({
    ...method,
    responseDeserialize: (buffer) => message.decode(new InterningReader(buffer, strings)),
  });

  const containers = streamedList(connection, {
    stream: interned(runtime.streamContainers, StreamContainersResponse),
    unary: interned(runtime.listContainers, ListContainersResponse),
    request: { filter: undefined },
    ofStream: (message): readonly Container[] => message.containers,
    ofUnary: (message) => message.containers,
  });
  const sandboxes = streamedList(connection, {
    stream: interned(runtime.streamPodSandboxes, StreamPodSandboxesResponse),
    unary: interned(runtime.listPodSandbox, ListPodSandboxResponse),
    request: { filter: undefined },
    ofStream: (message): readonly PodSandbox[] => message.podSandboxes,
    ofUnary: (message) => message.items,
  });
  const usages = streamedList(connection, {
    stream: interned(runtime.streamContainerStats, StreamContainerStatsResponse),
    unary: interned(runtime.listContainerStats, ListContainerStatsResponse),
    request: { filter: undefined },
    ofStream: (message): readonly ContainerStats[] => message.containerStats,
    ofUnary: (message) => message.stats,
  });
  const imageList = streamedList(connection, {
    stream: interned(images.streamImages, StreamImagesResponse),
    unary: interned(images.listImages, ListImagesResponse),
    request: { filter: undefined },
    ofStream: (message): readonly Image[] => message.images,
    ofUnary: (message) => message.images,
  });

  const identify: RuntimePort['identify'] = async (signal) => {
    // The version is that of the oldest client protocol; runtimes do not look at it.
    const answer = await connection.unary(runtime.version, { version: '0.1.0' }, quick(signal));
    return { name: answer.runtimeName, version: answer.runtimeVersion, apiVersion: answer.runtimeApiVersion };
  };

  const close = async () => connection.close();

  return {
    endpoint: connection.endpoint.url,
    identify,
    async health(signal) {
      const { status } = await connection.unary(runtime.status, { verbose: false }, quick(signal));
      const condition = status?.conditions.find(({ type }) => type === 'RuntimeReady');
      if (condition === undefined) return { ready: false, reason: 'the runtime reports no RuntimeReady condition' };
      if (condition.status) return { ready: true, reason: '' };
      return { ready: false, reason: [condition.reason, condition.message].filter(Boolean).join(': ') };
    },
    async listContainers(signal) {
      const at = now();
      return await containers((message) => containerRecord(message, at), list(signal));
    },
    async listSandboxes(signal) {
      const at = now();
      return await sandboxes((message) => sandboxRecord(message, at), list(signal));
    },
    listImages: (signal) => imageList(imageRecord, list(signal)),
    listContainerUsage: (signal) => usages(containerUsage, list(signal)),
    async imageFsInfo(signal) {
      const answer = await connection.unary(images.imageFsInfo, {}, quick(signal));
      return {
        imageFilesystems: answer.imageFilesystems.map(runtimeFilesystem),
        containerFilesystems: answer.containerFilesystems.map(runtimeFilesystem),
      };
    },
    async containerStatus(id, signal) {
      const request = { containerId: id, verbose: false };
      const answer = await unlessGone(connection.unary(runtime.containerStatus, request, quick(signal, id)));
      if (answer === null) return null;
      if (answer.status === undefined) {
        throw new PortError(`Cannot tell the state of a container as the runtime's answer must hold a status: ${id}`);
      }
      return containerStatusRecord(answer.status);
    },
    async imageStatus(reference, signal) {
      const request = { image: imageSpec(reference), verbose: false };
      const answer = await unlessGone(connection.unary(images.imageStatus, request, quick(signal, reference)));
      return answer?.image === undefined ? null : imageRecord(answer.image);
    },
    async imageConfig(id, signal) {
      const request = { image: imageSpec(id), verbose: true };
      const answer = await unlessGone(connection.unary(images.imageStatus, request, quick(signal, id)));
      return answer?.image === undefined ? null : imageConfigOf(answer.info);
    },
    async stopContainer(id, grace, signal) {
      const { seconds, timeout } = stopTimes(grace);
      const request = { containerId: id, timeout: seconds };
      await unlessGone(connection.unary(runtime.stopContainer, request, { timeout, target: id, signal }));
    },
    async removeContainer(id, signal) {
      await unlessGone(connection.unary(runtime.removeContainer, { containerId: id }, change(id, signal)));
    },
    async reopenContainerLog(id, signal) {
      // What is gone has no log to reopen: here that is a failure like any other.
      await connection.unary(runtime.reopenContainerLog, { containerId: id }, change(id, signal));
    },
    async stopSandbox(id, signal) {
      await unlessGone(connection.unary(runtime.stopPodSandbox, { podSandboxId: id }, change(id, signal)));
    },
    async removeSandbox(id, signal) {
      await unlessGone(connection.unary(runtime.removePodSandbox, { podSandboxId: id }, change(id, signal)));
    },
    async removeImage(id, signal) {
      await unlessGone(connection.unary(images.removeImage, { image: imageSpec(id) }, change(id, signal)));
    },
    freeRemoved: freeRemoved({ connection, identify, timeout: deadlines.change, now }),
    events: (signal) => containerEvents(connection, identify, signal),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is gone already is as gone as we want it: null instead of NOT_FOUND. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'not-found') return null;
    throw error;
  }
}

function imageSpec(image: string) {
  return { image, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' };
}
