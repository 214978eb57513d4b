import {
  adopt,
  bookFullList,
  compareAll,
  compareOne,
  isRelistHealthy,
  nothingRelisted,
  type PodCacheEntry,
  type PodLifecycleEvent,
  type Relist,
  type RelistedPod,
  type RelistState,
  toInspect,
} from '../gc/relist.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerRecord, SandboxRecord } from '../ports/runtime.js';
import { groupBy } from '../units/group-by.js';
import { type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import { messageOf, toError } from './removal.js';

/** Where a relister gets its pictures from. */
export interface RelisterDeps<Status> {
  /** All pods, dead parts included. Rejects when they cannot be listed. */
  list(signal: AbortSignal): Promise<readonly RelistedPod[]>;
  /** What a pod is right now. Rejects when it cannot be told. */
  inspect(podUid: string, signal: AbortSignal): Promise<Status>;
  readonly clock: Clock;
  /** Events that wait to be taken at most; 1000 unless said. */
  readonly channelCapacity?: number;
}

/** What came of one relist. `failed`: nothing could be listed, and nothing was changed. */
export type RelistOutcome =
  | { readonly kind: 'relisted'; readonly dropped: number }
  | { readonly kind: 'failed'; readonly message: string };

/** The kubelet's length of the channel. A full one drops: the picture is adopted all the same, so the event never comes again. */
const CHANNEL_CAPACITY = 1_000;
/** How old the last full list may be. */
export const RELIST_THRESHOLD: Milliseconds = milliseconds(3 * 60_000);
/** The pause between full lists. */
export const RELIST_EVERY: Milliseconds = milliseconds(1_000);

/**
 * Notices what starts, dies and goes by listing again and comparing; the list is the truth, events of the runtime are only a
 * hint to list now. Mirrors the kubelet's generic pod lifecycle event generator.
 */
export class Relister<Status> {
  readonly #deps: RelisterDeps<Status>;
  readonly #channel: PodLifecycleEvent[] = [];
  #state: RelistState<Status> = nothingRelisted();

  constructor(deps: RelisterDeps<Status>) {
    this.#deps = deps;
  }

  /** What is known. */
  get state(): RelistState<Status> {
    return this.#state;
  }

  /** Takes all events that wait. */
  take(): readonly PodLifecycleEvent[] {
    return this.#channel.splice(0);
  }

  /** Whether full lists keep up. */
  isHealthy(threshold: Milliseconds = RELIST_THRESHOLD): boolean {
    return isRelistHealthy(this.#state, this.#deps.clock.now(), threshold);
  }

  /** Has a pod inspected at the next look at it, even if nothing changes. */
  askForInspection(podUid: string): void {
    this.#state = { ...this.#state, reinspect: new Set([...this.#state.reinspect, podUid]) };
  }

  /** Lists all pods. Its time counts from before the list. */
  async relist(signal: AbortSignal): Promise<RelistOutcome> {
    const at = this.#deps.clock.now();
    const listed = await this.#deps.list(signal).catch(toError);
    if (listed instanceof Error) return { kind: 'failed', message: messageOf(listed) };
    this.#state = bookFullList(this.#state, listed, at);
    return this.#digest(compareAll(this.#state, listed), signal);
  }

  /**
   * Looks at one pod now, as after a change of ours. Skipped when a full list was made after `asked`. A pod that the runtime no
   * longer knows is an error here: its events come from the next full list.
   */
  async relistPod(podUid: string, asked: Instant, signal: AbortSignal): Promise<RelistOutcome> {
    const { lastRelist } = this.#state;
    if (lastRelist !== null && asked < lastRelist) return { kind: 'relisted', dropped: 0 };
    const listed = await this.#deps.list(signal).catch(toError);
    if (listed instanceof Error) return { kind: 'failed', message: messageOf(listed) };
    const pod = listed.find((each) => each.uid === podUid);
    if (pod === undefined) {
      return { kind: 'failed', message: `Cannot look at a pod as the runtime must know it: ${podUid}` };
    }
    return this.#digest(compareOne(this.#state, pod), signal);
  }

  async #digest(relist: Relist, signal: AbortSignal): Promise<RelistOutcome> {
    const inspections = new Map<string, PodCacheEntry<Status>>();
    for (const uid of toInspect(relist)) {
      inspections.set(uid, await this.#inspect(uid, signal));
    }
    const { state, events } = adopt(this.#state, relist, inspections);
    this.#state = state;
    const room = Math.max(0, (this.#deps.channelCapacity ?? CHANNEL_CAPACITY) - this.#channel.length);
    this.#channel.push(...events.slice(0, room));
    return { kind: 'relisted', dropped: Math.max(0, events.length - room) };
  }

  async #inspect(uid: string, signal: AbortSignal): Promise<PodCacheEntry<Status>> {
    try {
      return { kind: 'status', status: await this.#deps.inspect(uid, signal) };
    } catch (error) {
      return { kind: 'error', message: messageOf(error) };
    }
  }
}

/** Pods as a relister sees them, from what a runtime lists. Containers without a pod identity are nobody's. */
export function relistedPods(
  containers: readonly ContainerRecord[],
  sandboxes: readonly SandboxRecord[],
): readonly RelistedPod[] {
  const containersOf = groupBy(containers, (each) => each.pod?.uid ?? null);
  const sandboxesOf = groupBy(sandboxes, (each) => each.pod.uid);
  const uids = new Set([...containersOf.keys(), ...sandboxesOf.keys()].filter((uid) => uid !== null));
  return [...uids].map((uid) => ({
    uid,
    containers: (containersOf.get(uid) ?? []).map(({ id, state }) => ({ id, state })),
    sandboxes: (sandboxesOf.get(uid) ?? []).map(({ id, state }) => ({
      id,
      state: state === 'ready' ? 'running' : 'exited',
    })),
  }));
}
