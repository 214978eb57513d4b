import { groupBy } from '../units/group-by.js';
import { type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import type { Planned, PlannedContainer, PodAnswers } from './inventory.js';

/** How many dead containers are kept. Null = no limit. Mirrors the kubelet's container GC policy. */
export interface ContainerLimits {
  /** Age since creation; an equal age is old enough. */
  readonly minAge: Milliseconds;
  readonly maxPerPodContainer: number | null;
  readonly maxContainers: number | null;
}

/** Why a dead container goes. */
export type ContainerReason =
  | 'its pod is gone'
  | 'its pod has finished'
  | 'more than are kept per container'
  | 'more than are kept in all'
  | 'the last of a live pod, under pressure';

/** What the plan is made from. */
export interface ContainerPlanInput {
  readonly containers: readonly PlannedContainer[];
  readonly limits: ContainerLimits;
  readonly pods: PodAnswers;
  /** Under pressure containers of finished pods that still exist go too (`evictNonDeletedPods`). */
  readonly finishedPodsToo: boolean;
  /** Under pressure, in the reclaimd profile: the last dead containers of live pods go too, after all others. */
  readonly lastOnesToo: boolean;
  /** Whether a container that was created and not started counts as dead at any age, as in the kubelet. */
  readonly createdCountsAsDead: boolean;
  readonly now: Instant;
}

/** A container that was created but not started for so long is not about to start. Container creation took 31-63 ms, measured. */
const ABANDONED_START = milliseconds(5 * 60_000);

type PlannedRemoval = Planned<PlannedContainer, ContainerReason>;
interface Unit {
  readonly podUid: string;
  readonly containers: readonly PlannedContainer[];
}

/**
 * The dead containers that go, in order: those of pods that are gone, of finished pods, those beyond the limits, oldest
 * first, and under pressure the last ones of live pods. A running container and one without a pod identity never do.
 * Mirrors `evictContainers`; equal creation times are ordered by id, where the kubelet's order is undefined.
 */
export function planContainers(input: ContainerPlanInput): readonly PlannedRemoval[] {
  const units = unitsOf(input);
  const gone = input.pods.allSourcesReady ? units.filter((unit) => input.pods.contentMayBeRemoved(unit.podUid)) : [];
  const isGone = new Set(gone);
  const finished = input.pods.allSourcesReady
    ? units.filter((unit) => input.finishedPodsToo && !isGone.has(unit) && input.pods.runtimeMayBeRemoved(unit.podUid))
    : [];
  const going = new Set([...gone, ...finished]);
  const kept = units.filter((unit) => !going.has(unit));
  const perUnit = kept.map((unit) => splitOff(unit.containers, input.limits.maxPerPodContainer));
  const inAll = beyondTotal(
    perUnit.map((each) => each.kept),
    input.limits.maxContainers,
  );
  return [
    ...gone.flatMap((unit) => because(oldestFirst(unit.containers), 'its pod is gone')),
    ...finished.flatMap((unit) => because(oldestFirst(unit.containers), 'its pod has finished')),
    ...perUnit.flatMap((each) => because(each.surplus, 'more than are kept per container')),
    ...because(inAll.surplus, 'more than are kept in all'),
    ...(input.lastOnesToo ? because(oldestFirst(inAll.kept), 'the last of a live pod, under pressure') : []),
  ];
}

/** Whether a container counts as dead. */
export function isDead(container: PlannedContainer, now: Instant, createdCountsAsDead: boolean): boolean {
  switch (container.state) {
    case 'running':
      return false;
    case 'created':
      return createdCountsAsDead || now - container.createdAt >= ABANDONED_START;
    case 'exited':
    case 'unknown':
      return true;
  }
}

function unitsOf({ containers, limits, now, createdCountsAsDead }: ContainerPlanInput): readonly Unit[] {
  const dead = containers.flatMap((container) => {
    const { pod } = container;
    if (pod === null || !isDead(container, now, createdCountsAsDead)) return [];
    return container.createdAt > now - limits.minAge ? [] : [{ container, podUid: pod.uid }];
  });
  const units = groupBy(dead, ({ container, podUid }) => JSON.stringify([podUid, container.name]));
  return [...units.values()].flatMap((unit) => {
    const [first] = unit;
    return first === undefined ? [] : [{ podUid: first.podUid, containers: unit.map((each) => each.container) }];
  });
}

interface Split {
  readonly surplus: readonly PlannedContainer[];
  readonly kept: readonly PlannedContainer[];
}

/** Splits off the oldest beyond `limit`, oldest first. */
function splitOff(containers: readonly PlannedContainer[], limit: number | null): Split {
  if (limit === null || containers.length <= limit) return { surplus: [], kept: containers };
  const ordered = oldestFirst(containers);
  return { surplus: ordered.slice(0, ordered.length - limit), kept: ordered.slice(ordered.length - limit) };
}

/** The share of each unit is rounded down, at least 1, and not redistributed; what is still too much goes oldest first. */
function beyondTotal(units: readonly (readonly PlannedContainer[])[], limit: number | null): Split {
  const all = units.flat();
  if (limit === null || all.length <= limit) return { surplus: [], kept: all };
  const share = Math.max(1, Math.floor(limit / units.length));
  const shared = units.map((containers) => splitOff(containers, share));
  const rest = splitOff(
    shared.flatMap((each) => each.kept),
    limit,
  );
  return { surplus: [...shared.flatMap((each) => each.surplus), ...rest.surplus], kept: rest.kept };
}

function oldestFirst(containers: readonly PlannedContainer[]): readonly PlannedContainer[] {
  return containers.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

function because(containers: readonly PlannedContainer[], why: ContainerReason): readonly PlannedRemoval[] {
  return containers.map((item) => ({ item, why }));
}
