import { type Instant, instant } from '../units/units.js';
import type { PodAnswers } from './inventory.js';
import { type ContainerLimits, planContainers } from './plan-containers.js';

/** A container as the collector before CRI saw it. */
export interface DockerEraContainer {
  readonly id: string;
  readonly podUid: string;
  readonly name: string;
  readonly running: boolean;
  /** Null when Docker's text could not be read: it counts as for ever ago. */
  readonly createdAt: Instant | null;
  /** Whether its name could be read as a pod's. */
  readonly identified: boolean;
}

/** What a run does. */
export interface DockerEraPlan {
  /** In order: those that nobody can name, then those of gone pods and those beyond the limits, oldest first. */
  readonly removals: readonly DockerEraContainer[];
  /** Dead containers that held the network of a pod; it is torn down in every round. */
  readonly networkTeardowns: readonly DockerEraContainer[];
}

/** The container that held a pod's network. */
const INFRA = 'POD';

/**
 * Plans a run of the collector before CRI: the same limits, but a pod is gone when its uid is unknown, and dead containers
 * whose name cannot be read always go once they are old enough.
 */
export function planDockerEra(
  containers: readonly DockerEraContainer[],
  limits: ContainerLimits,
  pods: Pick<PodAnswers, 'allSourcesReady'> & { readonly isKnown: (uid: string) => boolean },
  now: Instant,
): DockerEraPlan {
  const dead = containers.filter((each) => !each.running);
  const nameless = dead.filter((each) => !each.identified && createdAt(each) <= now - limits.minAge);
  const byId = new Map(dead.map((each) => [each.id, each]));
  const planned = planContainers({
    containers: dead
      .filter((each) => each.identified)
      .map((each) => ({
        id: each.id,
        sandboxId: '',
        name: each.name,
        state: 'exited',
        createdAt: createdAt(each),
        pod: { uid: each.podUid, namespace: '', name: '' },
      })),
    limits,
    pods: {
      allSourcesReady: pods.allSourcesReady,
      contentMayBeRemoved: (uid) => !pods.isKnown(uid),
      runtimeMayBeRemoved: () => false,
    },
    finishedPodsToo: false,
    lastOnesToo: false,
    createdCountsAsDead: true,
    now,
  });
  return {
    removals: [...nameless, ...planned.flatMap(({ item }) => byId.get(item.id) ?? [])],
    networkTeardowns: dead.filter((each) => each.identified && each.name === INFRA),
  };
}

/** What the removal of one container asks for; null = it runs and is not removed. */
export function planDockerEraDeletion(container: DockerEraContainer): { readonly tearsDownNetwork: boolean } | null {
  return container.running ? null : { tearsDownNetwork: container.identified && container.name === INFRA };
}

/** Go's zero time, year 1. */
const FOR_EVER_AGO = instant(-62_135_596_800_000);

function createdAt(container: DockerEraContainer): Instant {
  return container.createdAt ?? FOR_EVER_AGO;
}
