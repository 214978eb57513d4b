import { groupBy } from '../units/group-by.js';
import type { Instant, Milliseconds } from '../units/units.js';

/** One container or sandbox as listed; a ready sandbox is running. */
export interface RelistedPart {
  readonly id: string;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
}

/** What a comparison tells apart: nothing has happened yet to what was only created. */
type ComparedState = 'running' | 'exited' | 'unknown';

/** A pod as listed, dead parts included. */
export interface RelistedPod {
  readonly uid: string;
  readonly containers: readonly RelistedPart[];
  readonly sandboxes: readonly RelistedPart[];
}

/** What happened to a pod since the last look. */
export type PodLifecycleEvent =
  | {
      readonly kind: 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved';
      readonly podUid: string;
      readonly containerId: string;
    }
  /** An inspection that was asked for has worked, and nothing else has changed. */
  | { readonly kind: 'PodSync'; readonly podUid: string };

/** What a pod was last found to be. */
export type PodCacheEntry<Status> =
  | { readonly kind: 'status'; readonly status: Status }
  | { readonly kind: 'error'; readonly message: string };

/** The memory of relisting. */
export interface RelistState<Status> {
  /** The pictures that were adopted, by pod; null = the pod was seen, and its picture never adopted. */
  readonly pods: ReadonlyMap<string, RelistedPod | null>;
  readonly cache: ReadonlyMap<string, PodCacheEntry<Status>>;
  /** Pods that are inspected at the next look even if nothing has changed. */
  readonly reinspect: ReadonlySet<string>;
  /** When a full list was last made; null = never. */
  readonly lastRelist: Instant | null;
  /** Pods with a running sandbox, and parts per state, of the last full list. A state that no longer occurs keeps its number. */
  readonly runningPods: number;
  readonly containersByState: Readonly<Partial<Record<RelistedPart['state'], number>>>;
}

/** Nothing has been listed yet. */
export function nothingRelisted<Status>(): RelistState<Status> {
  return {
    pods: new Map(),
    cache: new Map(),
    reinspect: new Set(),
    lastRelist: null,
    runningPods: 0,
    containersByState: {},
  };
}

/** A look at pods, before those that changed are inspected. */
export interface Relist {
  readonly looks: readonly PodLook[];
}

/** One pod in a look. */
export interface PodLook {
  readonly uid: string;
  /** Null = gone. */
  readonly now: RelistedPod | null;
  readonly events: readonly PodLifecycleEvent[];
  /** Parts changed, if only into `unknown`, or an inspection is owed. */
  readonly needsRefresh: boolean;
}

/** Compares a full list with what is known. */
export function compareAll<Status>(state: RelistState<Status>, listed: readonly RelistedPod[]): Relist {
  const now = new Map(listed.map((each) => [each.uid, each]));
  const uids = new Set([...state.pods.keys(), ...now.keys()]);
  return { looks: [...uids].map((uid) => look(state, uid, now.get(uid) ?? null)) };
}

/** Compares one pod with what is known of it. A pod that the runtime no longer knows is left to the next full list. */
export function compareOne<Status>(state: RelistState<Status>, pod: RelistedPod): Relist {
  return { looks: [look(state, pod.uid, pod)] };
}

/** Pods that must be inspected before a look is adopted; those that are gone need none. */
export function toInspect({ looks }: Relist): readonly string[] {
  return looks.filter((each) => each.needsRefresh && each.now !== null).map((each) => each.uid);
}

/** What a look leads to. */
export interface Relisted<Status> {
  readonly state: RelistState<Status>;
  readonly events: readonly PodLifecycleEvent[];
}

/**
 * Adopts a look. A pod whose inspection failed keeps its old picture, so that the difference is found again, and is inspected
 * again at the next look; its events are held back until then. Mirrors `Relist` of the generic pod lifecycle event generator.
 */
export function adopt<Status>(
  state: RelistState<Status>,
  { looks }: Relist,
  inspections: ReadonlyMap<string, PodCacheEntry<Status>>,
): Relisted<Status> {
  const pods = new Map(state.pods);
  const cache = new Map(state.cache);
  const reinspect = new Set(state.reinspect);
  const events: PodLifecycleEvent[] = [];
  for (const { uid, now, events: found, needsRefresh } of looks) {
    if (needsRefresh) {
      const entry = inspections.get(uid);
      if (now === null) cache.delete(uid);
      else if (entry !== undefined) cache.set(uid, entry);
      if (now !== null && entry?.kind !== 'status') {
        reinspect.add(uid);
        if (!pods.has(uid)) pods.set(uid, null);
        continue;
      }
    }
    const wasOwed = reinspect.delete(uid);
    if (now === null) pods.delete(uid);
    else pods.set(uid, now);
    if (needsRefresh && found.length === 0 && wasOwed && isUnchanged(state.pods.get(uid) ?? null, now)) {
      events.push({ kind: 'PodSync', podUid: uid });
    }
    events.push(...found);
  }
  return { state: { ...state, pods, cache, reinspect }, events };
}

/** Books a full list: its time, and the numbers of what runs. */
export function bookFullList<Status>(
  state: RelistState<Status>,
  listed: readonly RelistedPod[],
  at: Instant,
): RelistState<Status> {
  const parts = groupBy(
    listed.flatMap((pod) => pod.containers),
    (each) => each.state,
  );
  return {
    ...state,
    lastRelist: at,
    runningPods: listed.filter((pod) => pod.sandboxes.some((each) => each.state === 'running')).length,
    containersByState: {
      ...state.containersByState,
      ...Object.fromEntries([...parts].map(([name, group]) => [name, group.length])),
    },
  };
}

/** Whether relisting keeps up. */
export function isRelistHealthy<Status>(state: RelistState<Status>, now: Instant, threshold: Milliseconds): boolean {
  return state.lastRelist !== null && now - state.lastRelist <= threshold;
}

function look<Status>(state: RelistState<Status>, uid: string, now: RelistedPod | null): PodLook {
  const before = state.pods.get(uid) ?? null;
  const ids = new Set([before, now].flatMap(partsOf).map((each) => each.id));
  const events = [...ids].flatMap((id) => eventsOf(uid, id, stateOf(before, id), stateOf(now, id)));
  return { uid, now, events, needsRefresh: !isUnchanged(before, now) || state.reinspect.has(uid) };
}

/** Old containers, old sandboxes, then new ones: the order in which the kubelet sends what it found. */
function partsOf(pod: RelistedPod | null): readonly RelistedPart[] {
  return pod === null ? [] : [...pod.containers, ...pod.sandboxes];
}

function isUnchanged(before: RelistedPod | null, now: RelistedPod | null): boolean {
  const ids = new Set([before, now].flatMap(partsOf).map((each) => each.id));
  return [...ids].every((id) => stateOf(before, id) === stateOf(now, id));
}

function stateOf(pod: RelistedPod | null, id: string): ComparedState | null {
  const state = partsOf(pod).find((each) => each.id === id)?.state ?? null;
  return state === 'created' ? 'unknown' : state;
}

function eventsOf(
  podUid: string,
  containerId: string,
  before: ComparedState | null,
  now: ComparedState | null,
): readonly PodLifecycleEvent[] {
  if (before === now) return [];
  switch (now) {
    case 'running':
      return [{ kind: 'ContainerStarted', podUid, containerId }];
    case 'exited':
      return [{ kind: 'ContainerDied', podUid, containerId }];
    case 'unknown':
      return [];
    case null: {
      const removed = { kind: 'ContainerRemoved', podUid, containerId } as const;
      return before === 'exited' ? [removed] : [{ kind: 'ContainerDied', podUid, containerId }, removed];
    }
  }
}
