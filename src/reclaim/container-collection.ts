import type { GcEvent, GcSubject } from '../gc/gc-event.js';
import { type OwnerScope, withinScope } from '../gc/owner-scope.js';
import { type ContainerLimits, planContainers } from '../gc/plan-containers.js';
import { planSandboxes } from '../gc/plan-sandboxes.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { BackOff } from './back-off.js';
import { collectOne } from './collect-one.js';
import { collectPodLogs, type PodLogsDeps } from './pod-logs-gc.js';
import { messageOf, toError } from './removal.js';
import { type RemoveContainerDeps, removeDeadContainer } from './remove-container.js';
import type { WarningDeps } from './told-warnings.js';

/** What a run of container collection needs from the world. */
export interface ContainerCollectionDeps extends RemoveContainerDeps, PodLogsDeps {
  readonly runtime: Pick<
    RuntimePort,
    | 'listContainers'
    | 'listSandboxes'
    | 'containerStatus'
    | 'stopContainer'
    | 'removeContainer'
    | 'stopSandbox'
    | 'removeSandbox'
  >;
  readonly limits: ContainerLimits;
  /** Absent = in the kubelet profile. */
  readonly warnings?: WarningDeps;
  /** Whether a container that was never started counts as dead at any age, as in the kubelet. */
  readonly createdCountsAsDead: boolean;
  /** Whose garbage goes; absent = everybody's. */
  readonly ownerScope?: OwnerScope;
  /** What is left alone for having failed; absent = nothing is. */
  readonly backOff?: BackOff;
}

/** A step that failed. */
export interface FailedStep {
  readonly step: 'containers' | 'sandboxes' | 'pod logs';
  readonly message: string;
}

/**
 * One run: dead containers beyond the limits or of gone pods, then sandboxes that nothing needs, then logs of gone pods. All
 * three steps are tried; answers with those that failed. A removal that fails counts as done for this run and comes up again
 * in the next. `finishedPodsToo`: also of pods that have finished and still exist. Mirrors `GarbageCollect` of the container
 * collector, `evictNonDeletedPods` included.
 */
export async function* collectContainers(
  deps: ContainerCollectionDeps,
  finishedPodsToo: boolean,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, readonly FailedStep[]> {
  const failed: FailedStep[] = [];
  for (const [step, run] of [
    ['containers', evictContainers(deps, finishedPodsToo, signal)],
    ['sandboxes', evictSandboxes(deps, finishedPodsToo, signal)],
    ['pod logs', collectPodLogs(deps, signal)],
  ] as const) {
    if (deps.ownerScope === 'images') return failed;
    const error = yield* run;
    if (error === null) continue;
    const message = messageOf(error);
    failed.push({ step, message });
    yield { kind: 'gc-step-failed', at: deps.clock.now(), step, message };
  }
  return failed;
}

function isResting({ backOff }: ContainerCollectionDeps, id: string): boolean {
  return (backOff?.reason(id) ?? null) !== null;
}

async function* evictContainers(
  deps: ContainerCollectionDeps,
  finishedPodsToo: boolean,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, Error | null> {
  const { runtime, clock, limits, createdCountsAsDead } = deps;
  const containers = await runtime.listContainers(signal).catch(toError);
  if (containers instanceof Error) return containers;
  // Asked after the list: a pod that came meanwhile must not be taken for gone.
  const pods = await deps.answers(signal).catch(toError);
  if (pods instanceof Error) return pods;
  const now = clock.wall();
  const plan = planContainers({
    containers,
    limits,
    pods,
    finishedPodsToo,
    lastOnesToo: false,
    createdCountsAsDead,
    now,
  });
  const byId = new Map(containers.map((each) => [each.id, each]));
  for (const { item, why } of withinScope(deps.ownerScope ?? 'all', plan)) {
    if (signal.aborted) return null;
    const container = byId.get(item.id);
    if (container === undefined || isResting(deps, item.id)) continue;
    const { pod } = container;
    const label = pod === null ? container.name : `${pod.namespace}/${pod.name}/${container.name}`;
    const subject: GcSubject = { what: 'container', id: container.id, label, reason: why, claimed: null };
    yield await collectOne(clock, subject, () => removeDeadContainer(deps, container, signal));
  }
  return null;
}

async function* evictSandboxes(
  deps: ContainerCollectionDeps,
  finishedPodsToo: boolean,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, Error | null> {
  const { runtime, clock } = deps;
  const containers = await runtime.listContainers(signal).catch(toError);
  if (containers instanceof Error) return containers;
  const sandboxes = await runtime.listSandboxes(signal).catch(toError);
  if (sandboxes instanceof Error) return sandboxes;
  const pods = await deps.answers(signal).catch(toError);
  if (pods instanceof Error) return pods;
  const plan = planSandboxes(sandboxes, containers, pods, finishedPodsToo);
  for (const { item, why } of withinScope(deps.ownerScope ?? 'all', plan)) {
    if (signal.aborted) return null;
    if (isResting(deps, item.id)) continue;
    const label = `${item.pod.namespace}/${item.pod.name}`;
    const subject: GcSubject = { what: 'sandbox', id: item.id, label, reason: why, claimed: null };
    yield await collectOne(clock, subject, async () => {
      await runtime.stopSandbox(item.id, signal);
      await runtime.removeSandbox(item.id, signal);
      return { kind: 'removed' };
    });
  }
  return null;
}
