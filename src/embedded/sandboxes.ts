import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type PodSandbox,
  type PodSandboxFilter,
  PodSandboxState,
  type PodSandboxStatus,
  type RunPodSandboxRequest,
} from '../proto/generated/cri.js';
import type { Containers } from './containers.js';
import { asCriError, CriError } from './cri-error.js';
import type { EventKind, Events } from './events.js';
import type { Garbage } from './garbage.js';
import { containerStatusMessage, sandboxMessage, sandboxStatusMessage } from './messages.js';
import { type ContainerRecord, nanoseconds, type SandboxRecord } from './records.js';
import { findImage, type RuntimeState } from './state.js';

/** Name of the directory of sandboxes on the disk of containers. */
export const SANDBOXES = 'sandboxes';
const CONFIG_BYTES = 4096;

/** The pod sandboxes: what RuntimeService does with them. */
export class Sandboxes {
  readonly #state: RuntimeState;
  readonly #containers: Containers;
  readonly #garbage: Garbage;
  readonly #events: Events;
  /** Names of sandboxes that are being made. */
  readonly #reserved = new Set<string>();

  constructor(state: RuntimeState, containers: Containers, garbage: Garbage, events: Events) {
    this.#state = state;
    this.#containers = containers;
    this.#garbage = garbage;
    this.#events = events;
  }

  /** Every sandbox that the filter lets through, in a new order each time. */
  list(filter: PodSandboxFilter | undefined): PodSandbox[] {
    return this.#state.random.shuffled(this.find(filter)).map(sandboxMessage);
  }

  /** Every sandbox that the filter lets through. */
  find(
    filter: (Omit<PodSandboxFilter, 'state'> & { readonly state?: PodSandboxFilter['state'] }) | undefined,
  ): SandboxRecord[] {
    const all = [...this.#state.sandboxes.values()];
    if (filter === undefined) return all;
    return all.filter(
      (sandbox) =>
        (filter.id === '' || sandbox.id.startsWith(filter.id)) &&
        (filter.state === undefined || sandbox.state === filter.state.state) &&
        Object.entries(filter.labelSelector).every(([key, value]) => sandbox.config.labels[key] === value),
    );
  }

  /** @throws CriError NOT_FOUND */
  get(id: string): SandboxRecord {
    const found = this.#state.sandboxes.get(id);
    if (found === undefined)
      throw new CriError('NOT_FOUND', `an error occurred when try to find sandbox "${id}": not found`);
    return found;
  }

  /** @throws CriError NOT_FOUND */
  status(id: string): PodSandboxStatus {
    return sandboxStatusMessage(this.get(id));
  }

  /** Makes a sandbox that is ready. @throws CriError UNKNOWN on a full disk, for a name in use, or with no sandbox image */
  async run({ config, runtimeHandler }: RunPodSandboxRequest): Promise<string> {
    if (config?.metadata === undefined) throw new CriError('UNKNOWN', 'sandbox config must include metadata');
    const { name, namespace, uid, attempt } = config.metadata;
    const full = [name, namespace, uid, attempt].join('_');
    const holder = this.find(undefined).find(
      ({ config: { metadata } }) =>
        metadata !== undefined &&
        [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join('_') === full,
    );
    if (holder !== undefined || this.#reserved.has(full)) {
      throw new CriError(
        'UNKNOWN',
        `failed to reserve sandbox name "${full}": name is reserved for "${holder?.id ?? 'another call'}"`,
      );
    }
    const image = this.#state.sandboxImage;
    if (findImage(this.#state, image) === undefined) {
      throw new CriError(
        'UNKNOWN',
        `failed to get sandbox image "${image}": failed to pull image "${image}": no such host`,
      );
    }
    const id = this.#state.random.id();
    const directory = join(this.#state.disks.container.path, SANDBOXES, id);
    this.#reserved.add(full);
    try {
      await mkdir(directory);
      this.#state.disks.container.spend(CONFIG_BYTES);
      await writeFile(join(directory, 'config'), Buffer.alloc(CONFIG_BYTES, ' '));
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw asCriError('failed to create containerd task', error);
    } finally {
      this.#reserved.delete(full);
    }
    const sandbox: SandboxRecord = {
      id,
      config,
      runtimeHandler,
      createdAt: nanoseconds(this.#state.now()),
      state: PodSandboxState.SANDBOX_READY,
      directory,
    };
    this.#state.sandboxes.set(id, sandbox);
    this.#tell('CREATED', sandbox);
    this.#tell('STARTED', sandbox);
    return id;
  }

  /**
   * Kills what runs in it. OK even when the end of a container cannot be stored: its state is what counts.
   * @throws CriError NOT_FOUND where the behaviour has it so
   */
  async stop(id: string): Promise<void> {
    if (!this.#state.sandboxes.has(id) && this.#state.traits.stopUnknownSucceeds) return;
    const sandbox = this.get(id);
    await Promise.all(this.#containersOf(id).map((container) => this.#containers.kill(container)));
    if (sandbox.state === PodSandboxState.SANDBOX_NOTREADY) return;
    sandbox.state = PodSandboxState.SANDBOX_NOTREADY;
    this.#tell('STOPPED', sandbox);
  }

  /** Removes it with its containers, killing what runs. @throws CriError UNKNOWN when a container cannot be removed */
  async remove(id: string): Promise<void> {
    const sandbox = this.#state.sandboxes.get(id);
    if (sandbox === undefined) return;
    await this.stop(id);
    for (const container of this.#containersOf(id)) await this.#containers.remove(container.id);
    // A second removal at the same time may have got here first.
    if (!this.#state.sandboxes.delete(id)) return;
    if (sandbox.directory !== null) this.#garbage.discard([sandbox.directory]);
    this.#tell('DELETED', sandbox);
  }

  #containersOf(id: string): readonly ContainerRecord[] {
    return this.#containers.find({ id: '', podSandboxId: id, labelSelector: {} });
  }

  #tell(kind: EventKind, sandbox: SandboxRecord): void {
    this.#events.tell(kind, {
      containerId: sandbox.id,
      createdAt: nanoseconds(this.#state.now()),
      podSandboxStatus: sandboxStatusMessage(sandbox),
      containersStatuses: this.#containersOf(sandbox.id).map((container) =>
        containerStatusMessage(this.#state, container),
      ),
    });
  }
}
