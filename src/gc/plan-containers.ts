import { getOrMake } from '../units/get-or-make.js';
import { groupBy } from '../units/group-by.js';
import { sorted } from '../units/sorted.js';
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
export interface ContainerPlanInput<Container extends PlannedContainer = PlannedContainer> {
  readonly containers: readonly Container[];
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

type PlannedRemoval<Container> = Planned<Container, ContainerReason>;

/** The dead containers of one name in one pod. */
interface Unit<Container> {
  readonly podUid: string;
  readonly containers: Container[];
}

/**
 * The dead containers that go, in order: those of pods that are gone, of finished pods, those beyond the limits, oldest
 * first, and under pressure the last ones of live pods. A running container and one without a pod identity never do.
 * Mirrors `evictContainers`; equal creation times are ordered by id, where the kubelet's order is undefined.
 */
export function planContainers<Container extends PlannedContainer>(
  input: ContainerPlanInput<Container>,
): readonly PlannedRemoval<Container>[] {
  const { pods, finishedPodsToo, limits, lastOnesToo } = input;
  const fates = groupBy(unitsOf(input), ({ podUid }): Fate => {
    if (!pods.allSourcesReady) return 'kept';
    if (pods.contentMayBeRemoved(podUid)) return 'gone';
    return finishedPodsToo && pods.runtimeMayBeRemoved(podUid) ? 'finished' : 'kept';
  });
  const [gone = [], finished = [], kept = []] = (['gone', 'finished', 'kept'] as const).map((fate) => fates.get(fate));
  const perUnit = kept.map((unit) => splitOff(unit.containers, limits.maxPerPodContainer));
  const inAll = beyondTotal(
    perUnit.map((each) => each.kept),
    limits.maxContainers,
  );
  return [
    ...gone.flatMap((unit) => because(oldestFirst(unit.containers), 'its pod is gone')),
    ...finished.flatMap((unit) => because(oldestFirst(unit.containers), 'its pod has finished')),
    ...perUnit.flatMap((each) => because(each.surplus, 'more than are kept per container')),
    ...because(inAll.surplus, 'more than are kept in all'),
    ...(lastOnesToo ? because(oldestFirst(inAll.kept), 'the last of a live pod, under pressure') : []),
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

/** What becomes of a unit as a whole. */
type Fate = 'gone' | 'finished' | 'kept';

function unitsOf<Container extends PlannedContainer>({
  containers,
  limits,
  now,
  createdCountsAsDead,
}: ContainerPlanInput<Container>): readonly Unit<Container>[] {
  const units: Unit<Container>[] = [];
  const byPod = new Map<string, Map<string, Unit<Container>>>();
  for (const container of containers) {
    const { pod, name } = container;
    if (pod === null || !isDead(container, now, createdCountsAsDead)) continue;
    if (container.createdAt > now - limits.minAge) continue;
    const ofPod = getOrMake(byPod, pod.uid, newUnits<Container>);
    const unit = ofPod.get(name);
    if (unit !== undefined) {
      unit.containers.push(container);
      continue;
    }
    const made = { podUid: pod.uid, containers: [container] };
    ofPod.set(name, made);
    units.push(made);
  }
  return units;
}

function newUnits<Container>(): Map<string, Unit<Container>> {
  return new Map();
}

interface Split<Container> {
  readonly surplus: readonly Container[];
  readonly kept: readonly Container[];
}

/** Splits off the oldest beyond `limit`, oldest first. */
function splitOff<Container extends PlannedContainer>(
  containers: readonly Container[],
  limit: number | null,
): Split<Container> {
  if (limit === null || containers.length <= limit) return { surplus: [], kept: containers };
  const ordered = oldestFirst(containers);
  return { surplus: ordered.slice(0, ordered.length - limit), kept: ordered.slice(ordered.length - limit) };
}

/** The share of each unit is rounded down, at least 1, and not redistributed; what is still too much goes oldest first. */
function beyondTotal<Container extends PlannedContainer>(
  units: readonly (readonly Container[])[],
  limit: number | null,
): Split<Container> {
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

function oldestFirst<Container extends PlannedContainer>(containers: readonly Container[]): readonly Container[] {
  return sorted(containers, byAge);
}

function byAge(a: PlannedContainer, b: PlannedContainer): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

function because<Container>(
  containers: readonly Container[],
  why: ContainerReason,
): readonly PlannedRemoval<Container>[] {
  return containers.map((item) => ({ item, why }));
}
