import type { Clock } from '../../src/ports/clock.js';
import {
  type ContainerStatusRecord,
  type ContainerUsage,
  type ImageFsInfo,
  type ImageRecord,
  RuntimeError,
  type RuntimeErrorKind,
  type RuntimeEvent,
  type RuntimePort,
} from '../../src/ports/runtime.js';
import { bytes, count, instant, type Milliseconds, milliseconds } from '../../src/units/units.js';
import { EventSource } from './event-source.js';
import { type FakeContainer, type FakeWorld, PATHS } from './fake-world.js';

/** A call of the runtime, by its name in the port. */
export type Call = Exclude<keyof RuntimePort, 'events'>;

export interface MadeCall {
  readonly call: Call;
  readonly target: string | null;
  readonly grace: number | null;
}

/** What a call does instead of what was asked. `stuck`: it runs into its deadline, and nothing happened. */
export type Fault = RuntimeErrorKind | 'stuck';

const MUTATING: ReadonlySet<Call> = new Set([
  'stopContainer',
  'removeContainer',
  'stopSandbox',
  'removeSandbox',
  'removeImage',
]);
/** How long a stuck call takes to say so. */
const DEADLINE = milliseconds(2_000);

/** The world as a runtime shows it, with faults on demand. It keeps what it was asked. */
export class FakeRuntime implements RuntimePort {
  readonly calls: MadeCall[] = [];
  isDown = false;
  /** How long each call takes. */
  latency: Readonly<Partial<Record<Call, number>>> = {};
  /** Seen just before a call takes effect: tests change the world or judge here. */
  beforeEffect: ((made: MadeCall) => void) | null = null;
  /** Whether it can be made to free what removed containers held before its time. */
  freesOnDemand = false;
  /**
   * Bytes that must be available before the end of a container can be recorded. Until then its process is dead, and it counts as
   * running; a stop runs into its deadline ten seconds after its grace.
   */
  roomToRecord = 0;
  /** Whose processes are dead without that being recorded. */
  readonly unrecorded = new Set<string>();
  readonly eventSource = new EventSource<RuntimeEvent>();
  /** The most removals that were under way at one time. */
  mostAtOnce = 0;
  #atOnce = 0;
  readonly #faults = new Map<string, Fault>();
  readonly #below = new Map<Call, number>();

  constructor(
    readonly world: FakeWorld,
    readonly clock: Clock = world.clock,
  ) {}

  /** Makes a call fail, for one target or for all. */
  fail(call: Call, fault: Fault, target = '*'): void {
    this.#faults.set(`${call} ${target}`, fault);
  }

  /** Makes a call fail as long as the images' disk has less available. */
  failBelow(call: Call, fault: Fault, available: number): void {
    this.fail(call, fault);
    this.#below.set(call, available);
  }

  /** What was asked to change something, in order. */
  get mutations(): readonly MadeCall[] {
    return this.calls.filter(({ call }) => MUTATING.has(call));
  }

  targetsOf(call: Call): readonly (string | null)[] {
    return this.calls.filter((made) => made.call === call).map((made) => made.target);
  }

  identify(signal?: AbortSignal) {
    return this.#ask('identify', null, signal, () => ({ name: 'fake', version: '1.0', apiVersion: 'v1' }));
  }

  listContainers(signal?: AbortSignal) {
    return this.#ask('listContainers', null, signal, () => {
      this.#record();
      return [...this.world.containers.values()];
    });
  }

  listSandboxes(signal?: AbortSignal) {
    return this.#ask('listSandboxes', null, signal, () => [...this.world.sandboxes.values()]);
  }

  listImages(signal?: AbortSignal): Promise<readonly ImageRecord[]> {
    return this.#ask('listImages', null, signal, () => [...this.world.images.values()]);
  }

  imageFsInfo(signal?: AbortSignal): Promise<ImageFsInfo> {
    const at = (mountpoint: string) => [{ mountpoint, usedBytes: null, inodesUsed: null, at: null }];
    return this.#ask('imageFsInfo', null, signal, () => ({
      imageFilesystems: at(PATHS.images),
      containerFilesystems: at(PATHS.containers),
    }));
  }

  containerStatus(id: string, signal?: AbortSignal) {
    return this.#ask('containerStatus', id, signal, () => {
      const container = this.world.containers.get(id);
      return container === undefined ? null : statusOf(container);
    });
  }

  imageStatus(reference: string, signal?: AbortSignal) {
    return this.#ask('imageStatus', reference, signal, () => this.world.images.get(reference) ?? null);
  }

  listContainerUsage(signal?: AbortSignal) {
    return this.#ask('listContainerUsage', null, signal, () =>
      [...this.world.containers.values()].filter((each) => each.told !== 'nothing').map((each) => this.#usageOf(each)),
    );
  }

  stopContainer(id: string, grace: Milliseconds, signal?: AbortSignal) {
    return this.#ask('stopContainer', id, signal, () => this.#end(id, signal), grace);
  }

  removeContainer(id: string, signal?: AbortSignal) {
    return this.#ask('removeContainer', id, signal, () => this.world.removeContainer(id));
  }

  reopenContainerLog(id: string, signal?: AbortSignal) {
    return this.#ask('reopenContainerLog', id, signal, () => undefined);
  }

  stopSandbox(id: string, signal?: AbortSignal) {
    return this.#ask('stopSandbox', id, signal, () => {
      const sandbox = this.world.sandboxes.get(id);
      if (sandbox !== undefined) this.world.sandboxes.set(id, { ...sandbox, state: 'notready' });
    });
  }

  /** Takes the sandbox's containers along, running or not, as real runtimes do. */
  removeSandbox(id: string, signal?: AbortSignal) {
    return this.#ask('removeSandbox', id, signal, () => {
      this.world.sandboxes.delete(id);
      for (const each of this.world.containers.values()) if (each.sandboxId === id) this.world.removeContainer(each.id);
    });
  }

  removeImage(id: string, signal?: AbortSignal) {
    return this.#ask('removeImage', id, signal, () => this.world.removeImage(id));
  }

  freeRemoved(signal?: AbortSignal): Promise<boolean> {
    return this.#ask('freeRemoved', null, signal, () => {
      if (this.freesOnDemand) this.world.freeWhatIsLate();
      return this.freesOnDemand;
    });
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return this.eventSource.subscribe(signal);
  }

  /** The process dies at once; that it has is recorded when there is room. */
  async #end(id: string, signal: AbortSignal | undefined): Promise<void> {
    this.unrecorded.add(id);
    for (let waited = 0; waited < 10_000 && signal?.aborted !== true; waited += 1_000) {
      this.#record();
      if (!this.unrecorded.has(id)) return;
      await this.clock.sleep(milliseconds(1_000), signal);
    }
    throw new RuntimeError('Cannot stopContainer as the runtime says: deadline', {
      call: 'stopContainer',
      kind: 'deadline',
    });
  }

  #record(): void {
    if (this.world.disks.containerfs.freeBytes < this.roomToRecord) return;
    for (const id of this.unrecorded) this.world.setState(id, 'exited');
    this.unrecorded.clear();
  }

  async #ask<Answer>(
    call: Call,
    target: string | null,
    signal: AbortSignal | undefined,
    effect: () => Answer | Promise<Answer>,
    grace: number | null = null,
  ): Promise<Answer> {
    const made = { call, target, grace };
    this.calls.push(made);
    const error = (kind: RuntimeErrorKind) =>
      new RuntimeError(`Cannot ${call} as the runtime says: ${kind}`, { call, kind, ...(target && { target }) });
    if (signal?.aborted === true) throw error('cancelled');
    if (this.isDown) throw error('unavailable');
    const isRemoval = MUTATING.has(call);
    if (isRemoval) this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      const fault = this.#faultOf(call, target);
      const takes = fault === 'stuck' ? DEADLINE : milliseconds(this.latency[call] ?? 0);
      if (takes > 0) await this.clock.sleep(takes, signal);
      if (fault !== undefined) throw error(fault === 'stuck' ? 'deadline' : fault);
      this.beforeEffect?.(made);
      return await effect();
    } finally {
      if (isRemoval) this.#atOnce -= 1;
    }
  }

  #faultOf(call: Call, target: string | null): Fault | undefined {
    const below = this.#below.get(call);
    if (below !== undefined && this.world.disks.imagefs.freeBytes >= below) return undefined;
    return this.#faults.get(`${call} ${target}`) ?? this.#faults.get(`${call} *`);
  }

  #usageOf(container: FakeContainer): ContainerUsage {
    const { writable, told } = container;
    return {
      id: container.id,
      writableLayer:
        told === 'usage'
          ? { used: bytes(writable.bytes), inodes: count(writable.inodes), at: this.clock.wall() }
          : null,
      memoryWorkingSet: container.state === 'running' ? bytes(1_048_576) : null,
    };
  }
}

function statusOf(container: FakeContainer): ContainerStatusRecord {
  const { id, state, logPath, imageVolumes, annotations, createdAt } = container;
  return {
    id,
    state,
    logPath,
    imageVolumes,
    annotations,
    exitCode: 0,
    reason: '',
    startedAt: createdAt,
    finishedAt: state === 'exited' ? instant(createdAt + 1) : null,
  };
}
