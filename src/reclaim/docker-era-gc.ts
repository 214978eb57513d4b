import type { GcEvent } from '../gc/gc-event.js';
import type { PodAnswers } from '../gc/inventory.js';
import type { ContainerLimits } from '../gc/plan-containers.js';
import { type DockerEraContainer, planDockerEra, planDockerEraDeletion } from '../gc/plan-docker-era.js';
import type { Clock } from '../ports/clock.js';
import { PortError } from '../ports/port-error.js';
import { collectOne } from './collect-one.js';
import { messageOf, type Removed, toError } from './removal.js';

/** A runtime that is not spoken to over CRI: containers alone, and the network of a pod held by one of them. */
export interface DockerEraRuntime {
  /** All containers that could be inspected. */
  list(): Promise<readonly DockerEraContainer[]>;
  /** Removes a container with its volumes, its log and the link to it. */
  remove(id: string): Promise<Removed>;
  tearDownNetwork(id: string): Promise<void>;
}

/** What the collector needs from the world. */
export interface DockerEraDeps {
  readonly runtime: DockerEraRuntime;
  readonly clock: Clock;
  readonly limits: ContainerLimits;
  readonly pods: Pick<PodAnswers, 'allSourcesReady'> & { isKnown(uid: string): boolean };
  /** Ends the run between two removals. */
  readonly signal?: AbortSignal;
}

/** One run of the collector as it was before CRI. Rejects when containers cannot be listed. */
export async function* collectDockerEra({
  runtime,
  clock,
  limits,
  pods,
  signal,
}: DockerEraDeps): AsyncGenerator<GcEvent, void> {
  const plan = planDockerEra(await runtime.list(), limits, pods, clock.wall());
  for (const { id } of plan.networkTeardowns) {
    if (signal?.aborted === true) return;
    const failure = await runtime.tearDownNetwork(id).then(() => null, toError);
    if (failure === null) continue;
    const step = `tearing down the network of ${id.slice(0, 13)}`;
    yield { kind: 'gc-step-failed', at: clock.now(), step, message: messageOf(failure) };
  }
  for (const { id, name } of plan.removals) {
    if (signal?.aborted === true) return;
    const subject = { what: 'container', id, label: name, reason: 'dead and not kept', claimed: null } as const;
    yield await collectOne(clock, subject, () => runtime.remove(id));
  }
}

/** Removes one dead container. Rejects with a `PortError` when it is not there or runs. */
export async function deleteDockerEraContainer(runtime: DockerEraRuntime, id: string): Promise<void> {
  const container = (await runtime.list()).find((each) => each.id === id);
  if (container === undefined) throw new PortError(`Cannot remove a container as it must be there: ${id}`);
  const deletion = planDockerEraDeletion(container);
  if (deletion === null) throw new PortError(`Cannot remove a container as it must not run: ${id}`);
  if (deletion.tearsDownNetwork) await runtime.tearDownNetwork(id);
  await runtime.remove(id);
}
