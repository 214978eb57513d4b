import { isDead } from '../gc/plan-containers.js';
import type { DockerEraContainer } from '../gc/plan-docker-era.js';
import type { Clock } from '../ports/clock.js';
import { PortError } from '../ports/port-error.js';
import type { ContainerRecord, RuntimePort, SandboxRecord } from '../ports/runtime.js';
import type { DockerEraRuntime } from './docker-era-gc.js';
import type { Removed } from './removal.js';
import { type RemoveContainerDeps, removeDeadContainer } from './remove-container.js';

/** What stands in for the runtime of those days. */
export interface DockerEraOverCriDeps extends RemoveContainerDeps {
  readonly runtime: RemoveContainerDeps['runtime'] &
    Pick<RuntimePort, 'listContainers' | 'listSandboxes' | 'stopSandbox' | 'removeSandbox'>;
  readonly clock: Clock;
  /** Whether what is not sure to be dead, and what belongs to no pod, is left alone. See `Policy['gc']['dockerEra']`. */
  readonly isCareful: boolean;
}

/** The name of the container that held a pod's network: a sandbox does now. */
const INFRA = 'POD';

/**
 * A CRI runtime in the terms of the collector before CRI: a sandbox is the container that held the network of its pod, and stopping
 * it tears that down. One that any container is in counts as running, whatever it says: a runtime kills what is in a sandbox
 * that it removes.
 */
export function dockerEraOverCri(deps: DockerEraOverCriDeps, signal: AbortSignal): DockerEraRuntime {
  const { runtime, clock, isCareful } = deps;
  let containers: ReadonlyMap<string, ContainerRecord> = new Map();
  const sandboxInUse = async (id: string) =>
    (await runtime.listContainers(signal)).some((each) => each.sandboxId === id);

  return {
    async list() {
      const listed = await runtime.listContainers(signal);
      const sandboxes = await runtime.listSandboxes(signal);
      const inUse = new Set(listed.map(({ sandboxId }) => sandboxId));
      containers = new Map(listed.map((each) => [each.id, each]));
      const now = clock.wall();
      return [
        ...listed
          .filter(({ pod }) => pod !== null || !isCareful)
          .map(
            (each): DockerEraContainer => ({
              id: each.id,
              podUid: each.pod?.uid ?? '',
              name: each.name,
              // One of which the runtime cannot tell may run; those days had no such state.
              running: each.state === 'unknown' || !isDead(each, now, !isCareful),
              createdAt: each.createdAt,
              identified: each.pod !== null,
            }),
          ),
        ...sandboxes.map(
          (each): DockerEraContainer => ({
            id: each.id,
            podUid: each.pod.uid,
            name: INFRA,
            running: inUse.has(each.id) || !isDead(asContainer(each), now, !isCareful),
            createdAt: each.createdAt,
            identified: true,
          }),
        ),
      ];
    },

    async remove(id): Promise<Removed> {
      const container = containers.get(id);
      if (container !== undefined) return removeDeadContainer(deps, container, signal);
      if (await sandboxInUse(id)) return { kind: 'skipped', why: 'a container is in it now' };
      await runtime.removeSandbox(id, signal);
      return { kind: 'removed' };
    },

    async tearDownNetwork(id) {
      if (await sandboxInUse(id)) throw new PortError(`Cannot tear down a network as no container may use it: ${id}`);
      await runtime.stopSandbox(id, signal);
    },
  };
}

/** One that is not ready may be about to be: until it is old, it is like a container that was created and not started. */
function asContainer({ id, createdAt, pod, state }: SandboxRecord): Parameters<typeof isDead>[0] {
  return { id, sandboxId: id, name: INFRA, createdAt, pod, state: state === 'ready' ? 'running' : 'created' };
}
