import { status } from '@grpc/grpc-js';
import { deadlinesFor, stopTimes } from '../../../src/adapters/cri/deadlines.js';
import { runtimeErrorOf } from '../../../src/adapters/cri/errors.js';
import type {
  ContainerRecord,
  ContainerStatusRecord,
  ContainerUsage,
  ImageFsInfo,
  ImageRecord,
  RuntimeEvent,
  RuntimePort,
  SandboxRecord,
} from '../../../src/ports/runtime.js';
import { bytes, count, instant, type Milliseconds, milliseconds } from '../../../src/units/units.js';
import type { ImageItem } from '../format/world-items.js';
import type { LivingContainer, LivingSandbox } from './inhabitants.js';
import type { ScenarioWorld } from './scenario-world.js';

const ENDPOINT = 'unix:///run/containerd/containerd.sock';

interface Ask {
  /** CRI method. */
  readonly call: string;
  readonly target?: string;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

/** Names of calls whose removals count as under way at one moment, as scenarios call them. */
const REMOVALS: ReadonlySet<string> = new Set(['RemoveContainer', 'RemovePodSandbox', 'RemoveImage']);

/** The runtime of a scenario: the world as CRI shows it, with the faults of the steps and the deadlines of the real client. */
export class ScenarioRuntime implements RuntimePort {
  readonly #deadlines;

  constructor(
    readonly world: ScenarioWorld,
    requestTimeout: Milliseconds,
  ) {
    this.#deadlines = deadlinesFor(requestTimeout);
  }

  identify(signal?: AbortSignal) {
    return this.#quick('Version', undefined, signal, () => ({
      name: 'scenario',
      version: '1.0',
      apiVersion: 'v1',
    }));
  }

  listContainers(signal?: AbortSignal): Promise<readonly ContainerRecord[]> {
    return this.#list('ListContainers', signal, () => this.world.containers.map(containerRecord));
  }

  listSandboxes(signal?: AbortSignal): Promise<readonly SandboxRecord[]> {
    return this.#list('ListPodSandbox', signal, () => this.world.sandboxes.map(sandboxRecord));
  }

  listImages(signal?: AbortSignal): Promise<readonly ImageRecord[]> {
    return this.#list('ListImages', signal, () => this.world.images.map(imageRecord));
  }

  imageFsInfo(signal?: AbortSignal): Promise<ImageFsInfo> {
    return this.#quick('ImageFsInfo', undefined, signal, () => {
      const { imageFilesystems, containerFilesystems } = this.world.reportedFilesystems();
      const entry = (each: (typeof imageFilesystems)[number]) => ({
        mountpoint: each.mountpoint,
        usedBytes: each.usedBytes === undefined ? null : bytes(each.usedBytes),
        inodesUsed: each.inodesUsed === undefined ? null : count(each.inodesUsed),
        at: null,
      });
      return {
        imageFilesystems: imageFilesystems.map(entry),
        containerFilesystems: containerFilesystems.map(entry),
      };
    });
  }

  containerStatus(id: string, signal?: AbortSignal): Promise<ContainerStatusRecord | null> {
    return this.#quick('ContainerStatus', id, signal, () => {
      const container = this.world.containers.find(({ item }) => item.id === id);
      return container === undefined ? null : statusRecord(container);
    });
  }

  imageStatus(reference: string, signal?: AbortSignal): Promise<ImageRecord | null> {
    return this.#quick('ImageStatus', reference, signal, () => {
      const image = this.world.images.find((each) => [each.id, ...each.tags, ...each.digests].includes(reference));
      return image === undefined ? null : imageRecord(image);
    });
  }

  listContainerUsage(signal?: AbortSignal): Promise<readonly ContainerUsage[]> {
    return this.#list('ListContainerStats', signal, () =>
      this.world.containers.map((container) => {
        const layer = this.world.hasNoStats(container.pod?.uid ?? null) ? null : this.world.toldLayer(container);
        return {
          id: container.item.id,
          writableLayer:
            layer === null
              ? null
              : { used: bytes(layer.bytes), inodes: count(layer.inodes), at: this.world.clock.wall() },
          memoryWorkingSet: null,
        };
      }),
    );
  }

  async stopContainer(id: string, grace: Milliseconds, signal?: AbortSignal): Promise<void> {
    const pod = this.world.containers.find(({ item }) => item.id === id)?.pod ?? null;
    const ask = { call: 'StopContainer', target: id, deadline: stopTimes(grace).timeout, signal };
    const evicts = this.world.pods.find(({ item }) => item.uid === pod?.uid)?.item.name;
    await this.#ask(ask, () => undefined, evicts === undefined ? [] : [`EvictPod:${evicts}`]);
    await this.world.stopped(id, Math.ceil(grace / 1_000), signal);
  }

  removeContainer(id: string, signal?: AbortSignal): Promise<void> {
    return this.#change('RemoveContainer', id, signal, () => {
      this.world.removeContainer(id);
    });
  }

  reopenContainerLog(id: string, signal?: AbortSignal): Promise<void> {
    return this.#change('ReopenContainerLog', id, signal, () => undefined);
  }

  stopSandbox(id: string, signal?: AbortSignal): Promise<void> {
    return this.#change('StopPodSandbox', id, signal, () => undefined);
  }

  removeSandbox(id: string, signal?: AbortSignal): Promise<void> {
    return this.#change('RemovePodSandbox', id, signal, () => {
      this.world.removeSandbox(id);
    });
  }

  /** Scenarios tell when space comes back, and nobody can hasten it. */
  freeRemoved(): Promise<boolean> {
    return Promise.resolve(false);
  }

  removeImage(id: string, signal?: AbortSignal): Promise<void> {
    return this.#change('RemoveImage', id, signal, () => {
      this.world.removeImage(id);
    });
  }

  /** No runtime of a scenario tells its changes: they are seen by lists. */
  async *events(_signal: AbortSignal): AsyncGenerator<RuntimeEvent, void> {}

  #quick<Answer>(call: string, target: string | undefined, signal: AbortSignal | undefined, effect: () => Answer) {
    return this.#ask(
      { call, ...(target !== undefined && { target }), deadline: this.#deadlines.quick, signal },
      effect,
    );
  }

  #list<Answer>(call: string, signal: AbortSignal | undefined, effect: () => Answer): Promise<Answer> {
    return this.#ask({ call, deadline: this.#deadlines.list, signal }, effect);
  }

  #change(call: string, target: string, signal: AbortSignal | undefined, effect: () => void): Promise<void> {
    const ask = { call, target, deadline: this.#deadlines.change, signal };
    if (!REMOVALS.has(call) || this.world.belongsToEnding(call, target)) return this.#ask(ask, effect);
    const { journal } = this.world;
    journal.call(call, target);
    return journal.during(() => this.#ask(ask, effect));
  }

  async #ask<Answer>(
    { call, target, deadline, signal }: Ask,
    effect: () => Answer,
    otherNames: readonly string[] = [],
  ): Promise<Answer> {
    const { world } = this;
    const gaveUp = () => signal?.aborted === true;
    const fail = (details: string, code: number, timeIsUp = false) =>
      runtimeErrorOf(
        { code, details },
        { call, endpoint: ENDPOINT, gaveUp: gaveUp(), timeIsUp, ...(target !== undefined && { target }) },
      );
    // As over a socket, no answer comes in the same breath.
    await Promise.resolve();
    if (gaveUp()) throw fail('given up before it began', status.CANCELLED);
    world.disks.settle();
    const names = [target === undefined ? call : `${call}:${target}`, ...otherNames];
    const met = world.rules.meet(names, (name) => world.disks.available(world.places.named(name)));
    if (met.hang > 0) await world.clock.sleep(milliseconds(Math.min(met.hang, deadline)), signal);
    if (gaveUp()) throw fail('given up', status.CANCELLED);
    if (met.hang >= deadline) throw fail(`no answer within ${deadline / 1_000} s`, status.DEADLINE_EXCEEDED, true);
    if (met.error !== null) throw fail(met.error, codeIn(met.error));
    world.disks.settle();
    return effect();
  }
}

/** The gRPC code that a text names, as runtimes print it; else unknown, which containerd sends with nearly all its errors. */
function codeIn(text: string): number {
  const named = /code = (\w+)/.exec(text)?.[1] ?? '';
  const name = named.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  const known: Readonly<Record<string, unknown>> = { ...status };
  const code = known[name];
  if (typeof code === 'number') return code;
  return /connection refused|connect E[A-Z]+|transport is closing/i.test(text) ? status.UNAVAILABLE : status.UNKNOWN;
}

function containerRecord({ item, pod, name, attempt, sandboxId, createdAt, state }: LivingContainer): ContainerRecord {
  return {
    id: item.id,
    sandboxId,
    name,
    attempt,
    state,
    createdAt,
    imageId: '',
    imageRef: item.image,
    image: '',
    runtimeHandler: '',
    pod,
    labels: {},
    annotations: {},
  };
}

function statusRecord({ item, state, logPath, createdAt, finishedAt }: LivingContainer): ContainerStatusRecord {
  return {
    id: item.id,
    state,
    logPath,
    exitCode: 0,
    reason: '',
    startedAt: createdAt,
    finishedAt: finishedAt ?? (state === 'exited' ? instant(createdAt) : null),
    imageVolumes: [],
    annotations: {},
  };
}

function sandboxRecord({ item, pod, createdAt }: LivingSandbox): SandboxRecord {
  return {
    id: item.id,
    pod,
    attempt: item.attempt,
    state: item.state,
    createdAt,
    runtimeHandler: '',
    labels: {},
    annotations: {},
  };
}

function imageRecord({ id, tags, digests, size, pinned }: ImageItem): ImageRecord {
  return { id, tags, digests, size: bytes(size), pinned, runtimeHandler: '' };
}
