import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type Container,
  type ContainerFilter,
  ContainerState,
  type ContainerStatus,
  type CreateContainerRequest,
} from '../proto/generated/cri.js';
import { asCriError, CriError, isNoSpace } from './cri-error.js';
import { type EventKind, type Events } from './events.js';
import type { Garbage } from './garbage.js';
import { containerMessage, containerStatusMessage, sandboxStatusMessage } from './messages.js';
import { ContainerProcess } from './process.js';
import { type ContainerRecord, layerOf, nanoseconds } from './records.js';
import { findImage, type RuntimeState } from './state.js';
import { CONTAINERS } from './stats.js';
import { aborted, closing, latch, pause } from './waiting.js';
import { locator, workOf } from './work.js';
import type { Writers } from './writers.js';

/** Longest wait before storing an end is tried again, as measured on containerd. */
const LONGEST_EXIT_RETRY_MS = 17_000;
/** Bytes of the file that says what became of a container: one block. */
const STATUS_BYTES = 4096;

/** How containers behave where runtimes or disks differ. */
export interface ContainerRules {
  readonly stopOnFullDisk: 'stored' | 'stuck';
  readonly exitRetryMs: number;
}

/** The containers: what RuntimeService does with them. */
export class Containers {
  readonly #state: RuntimeState;
  readonly #garbage: Garbage;
  readonly #events: Events;
  readonly #writers: Writers;
  readonly #rules: ContainerRules;
  readonly #messages = new WeakMap<ContainerRecord, Container>();
  readonly #closing = closing();

  constructor(state: RuntimeState, garbage: Garbage, events: Events, writers: Writers, rules: ContainerRules) {
    this.#state = state;
    this.#garbage = garbage;
    this.#events = events;
    this.#writers = writers;
    this.#rules = rules;
  }

  /** Every container that the filter lets through, in a new order each time. */
  list(filter: ContainerFilter | undefined): Container[] {
    return this.#state.random.shuffled(this.find(filter)).map((container) => this.#message(container));
  }

  /** Every container that the filter lets through. */
  find(
    filter: (Omit<ContainerFilter, 'state'> & { readonly state?: ContainerFilter['state'] }) | undefined,
  ): ContainerRecord[] {
    const all = [...this.#state.containers.values()];
    if (filter === undefined) return all;
    return all.filter(
      (container) =>
        (filter.id === '' || container.id.startsWith(filter.id)) &&
        (filter.podSandboxId === '' || container.sandboxId.startsWith(filter.podSandboxId)) &&
        (filter.state === undefined || container.state === filter.state.state) &&
        Object.entries(filter.labelSelector).every(([key, value]) => container.config.labels[key] === value),
    );
  }

  /** @throws CriError NOT_FOUND */
  status(id: string): ContainerStatus {
    return containerStatusMessage(this.#state, this.get(id));
  }

  /** @throws CriError NOT_FOUND */
  get(id: string): ContainerRecord {
    const found = this.#state.containers.get(id);
    if (found === undefined)
      throw new CriError('NOT_FOUND', `an error occurred when try to find container "${id}": not found`);
    return found;
  }

  /** Makes a container with a directory of its own on the disk. @throws CriError UNKNOWN on a full disk */
  async create({ podSandboxId, config }: CreateContainerRequest): Promise<string> {
    const sandbox = this.#state.sandboxes.get(podSandboxId);
    if (sandbox === undefined)
      throw new CriError('NOT_FOUND', `failed to find sandbox id "${podSandboxId}": not found`);
    if (config?.metadata === undefined) throw new CriError('UNKNOWN', 'container config must include metadata');
    const { name, attempt } = config.metadata;
    for (const other of this.find({ id: '', podSandboxId: sandbox.id, labelSelector: {} })) {
      const theirs = other.config.metadata;
      if (theirs?.name !== name || theirs.attempt !== attempt) continue;
      throw new CriError(
        'UNKNOWN',
        `failed to reserve container name "${name}_${attempt}": name is reserved for "${other.id}"`,
      );
    }
    const image = this.#image(config.image?.image ?? '');
    if (!this.#state.traits.imageVolumes && config.mounts.some((mount) => mount.image !== undefined)) {
      // A runtime that does not know the field sees a mount of nothing.
      throw new CriError(
        'UNKNOWN',
        'failed to generate container spec: failed to mkdir "": mkdir : no such file or directory',
      );
    }
    const volumes = config.mounts.flatMap((mount) => (mount.image === undefined ? [] : [mount.image.image]));
    const volumeLayers = volumes.flatMap((volume) => this.#image(volume).layers.map((layer) => layer.digest));
    const id = this.#state.random.id();
    const directory = join(this.#state.disks.container.path, CONTAINERS, id);
    const record: ContainerRecord = {
      id,
      sandboxId: sandbox.id,
      config,
      imageId: image.id,
      layers: image.layers.map((layer) => layer.digest),
      command: image.command,
      volumeLayers,
      createdAt: nanoseconds(this.#state.now()),
      directory,
      logPath: config.logPath === '' ? '' : join(sandbox.config.logDirectory, config.logPath),
      state: ContainerState.CONTAINER_CREATED,
      startedAt: 0n,
      finishedAt: 0n,
      exitCode: 0,
      process: null,
      endTried: latch(),
      ended: latch(),
      endUnstored: false,
      stopGaveUp: false,
      removing: false,
      sample: { timestamp: 0n, bytes: 0n, inodes: 0n },
    };
    // Known before its files are, so that nothing collects the layers it needs and no second one takes its name.
    this.#state.containers.set(id, record);
    try {
      await mkdir(directory);
      await mkdir(layerOf(directory));
      this.#state.disks.container.spend(STATUS_BYTES);
      await writeFile(join(directory, 'status'), Buffer.alloc(STATUS_BYTES, ' '));
    } catch (error) {
      this.#state.containers.delete(id);
      await rm(directory, { recursive: true, force: true });
      throw asCriError('failed to create containerd container', error);
    }
    this.#tell('CREATED', record);
    return id;
  }

  /** @throws CriError when there is none or it is not in state CREATED */
  async start(id: string): Promise<void> {
    const container = this.get(id);
    if (container.state !== ContainerState.CONTAINER_CREATED) {
      throw new CriError(
        'UNKNOWN',
        `failed to start container "${id}": container is in ${stateName(container.state)} state`,
      );
    }
    const logPath = container.logPath === '' ? null : container.logPath;
    if (logPath !== null) await createLog(logPath);
    const process = new ContainerProcess(workOf(container), {
      writers: this.#writers,
      locate: locator(this.#state, container),
      logPath,
      now: this.#state.now,
    });
    container.process = process;
    container.state = ContainerState.CONTAINER_RUNNING;
    container.startedAt = nanoseconds(this.#state.now());
    this.#messages.delete(container);
    void process.exited.then((exitCode) => this.#end(container, exitCode));
    this.#tell('STARTED', container);
  }

  /**
   * SIGTERM, then SIGKILL when the grace is over. A call that ends before the grace does never kills.
   * @throws CriError NOT_FOUND where the behaviour has it so, DEADLINE_EXCEEDED when the call was over first
   */
  async stop(id: string, graceSeconds: number, signal: AbortSignal): Promise<void> {
    if (!this.#state.containers.has(id) && this.#state.traits.stopUnknownSucceeds) return;
    const container = this.get(id);
    if (container.state !== ContainerState.CONTAINER_RUNNING || container.stopGaveUp) return;
    if (graceSeconds > 0) {
      container.process?.terminate();
      const over = new AbortController();
      await Promise.race([container.ended.opened, pause(graceSeconds * 1000, AbortSignal.any([signal, over.signal]))]);
      over.abort();
    }
    if (signal.aborted)
      throw new CriError('DEADLINE_EXCEEDED', `failed to stop container "${id}": context deadline exceeded`);
    container.process?.kill();
    await Promise.race([container.ended.opened, aborted(signal)]);
    if (container.ended.isOpen) return;
    container.stopGaveUp = container.endUnstored;
    throw new CriError('DEADLINE_EXCEEDED', `failed to kill container "${id}": context deadline exceeded`);
  }

  /**
   * Removes a container, killing it first when it runs. Answers at once; the space comes back later.
   * @throws CriError UNKNOWN for a second removal under way, and for one whose end cannot be stored
   */
  async remove(id: string): Promise<void> {
    const container = this.#state.containers.get(id);
    if (container === undefined) return;
    if (container.removing)
      throw new CriError(
        'UNKNOWN',
        `failed to set removing state for container "${id}": container is already in removing state`,
      );
    container.removing = true;
    try {
      await this.kill(container);
      if (container.state === ContainerState.CONTAINER_RUNNING) {
        throw new CriError(
          'UNKNOWN',
          `failed to set removing state for container "${id}": container is still running, to stop first`,
        );
      }
      // A turn of the event loop, as the work of a real removal takes: a second call meanwhile finds it under way.
      await pause(1);
    } finally {
      container.removing = false;
    }
    this.#state.containers.delete(id);
    if (container.directory !== null) this.#garbage.discard([container.directory]);
    this.#tell('DELETED', container);
  }

  /** Kills a running container; resolves when its end is stored, or is known not to be storable for now. */
  async kill(container: ContainerRecord): Promise<void> {
    if (container.state !== ContainerState.CONTAINER_RUNNING || container.endUnstored) return;
    container.process?.kill();
    await container.endTried.opened;
  }

  /** @throws CriError when it does not run */
  async reopenLog(id: string): Promise<void> {
    const container = this.get(id);
    if (container.state !== ContainerState.CONTAINER_RUNNING)
      throw new CriError('UNKNOWN', `container "${id}" is not running`);
    await container.process?.reopenLog();
    if (container.logPath !== '') await createLog(container.logPath);
  }

  /** Kills everything; resolves when no process is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    const all = [...this.#state.containers.values(), ...this.#state.lost.containers.values()];
    const processes = all.flatMap(({ process }) => (process === null ? [] : [process]));
    for (const process of processes) process.kill();
    await Promise.all(processes.map((process) => process.exited));
  }

  async #end(container: ContainerRecord, exitCode: number): Promise<void> {
    container.finishedAt = nanoseconds(this.#state.now());
    container.exitCode = exitCode;
    let delayMs = this.#rules.exitRetryMs;
    while (!(await this.#storeEnd(container))) {
      container.endUnstored = true;
      container.endTried.open();
      if (!(await pause(delayMs, this.#closing.signal))) return;
      delayMs = Math.min(delayMs * 2, LONGEST_EXIT_RETRY_MS);
    }
    container.endUnstored = false;
    container.state = ContainerState.CONTAINER_EXITED;
    container.process = null;
    this.#messages.delete(container);
    container.endTried.open();
    container.ended.open();
    this.#tell('STOPPED', container);
  }

  /**
   * Writes down that a container has ended: in place, which needs no room, or as containerd does, into a new file that
   * takes the old one's name, which on a full XFS or tmpfs cannot be done. False when there was no room.
   */
  async #storeEnd(container: ContainerRecord): Promise<boolean> {
    if (container.directory === null || this.#rules.stopOnFullDisk === 'stored') return true;
    const path = join(container.directory, 'status.new');
    try {
      this.#state.disks.container.spend(STATUS_BYTES);
      await writeFile(path, Buffer.alloc(STATUS_BYTES, ' '));
      return true;
    } catch (error) {
      await rm(path, { force: true });
      // Anything but a want of room (the disk is gone at the end of a run) is nothing that waiting would help.
      return !isNoSpace(error);
    }
  }

  #message(container: ContainerRecord): Container {
    const known = this.#messages.get(container);
    if (known !== undefined) return known;
    const message = containerMessage(this.#state, container);
    this.#messages.set(container, message);
    return message;
  }

  #image(reference: string): ReturnType<typeof findImage> & object {
    const image = findImage(this.#state, reference);
    if (image === undefined) throw new CriError('NOT_FOUND', `failed to resolve image "${reference}": not found`);
    return image;
  }

  #tell(kind: EventKind, container: ContainerRecord): void {
    const sandbox = this.#state.sandboxes.get(container.sandboxId);
    this.#events.tell(kind, {
      containerId: container.id,
      createdAt: nanoseconds(this.#state.now()),
      podSandboxStatus: sandbox === undefined ? undefined : sandboxStatusMessage(sandbox),
      containersStatuses: this.find({ id: '', podSandboxId: container.sandboxId, labelSelector: {} }).map((other) =>
        containerStatusMessage(this.#state, other),
      ),
    });
  }
}

async function createLog(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a', 0o640);
  await file.close();
}

function stateName(state: ContainerState): string {
  return Object.entries(ContainerState).find(([, value]) => value === state)?.[0] ?? `${state}`;
}
