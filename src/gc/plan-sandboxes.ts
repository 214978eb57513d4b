import { groupBy } from '../units/group-by.js';
import { sorted } from '../units/sorted.js';
import type { Planned, PlannedContainer, PlannedSandbox, PodAnswers } from './inventory.js';

/** Why a sandbox goes. */
export type SandboxReason = 'its pod is gone' | 'its pod has finished' | 'a newer one took its place';

/**
 * The sandboxes that go. One with a container in any state, or that is ready, stays; of a pod that exists the newest stays
 * whatever its state. Mirrors `evictSandboxes`: no minimum age, no limits.
 */
export function planSandboxes(
  sandboxes: readonly PlannedSandbox[],
  containers: readonly Pick<PlannedContainer, 'sandboxId'>[],
  pods: PodAnswers,
  finishedPodsToo: boolean,
): readonly Planned<PlannedSandbox, SandboxReason>[] {
  const withContainers = new Set(containers.map((each) => each.sandboxId));
  const isIdle = (sandbox: PlannedSandbox) => sandbox.state === 'notready' && !withContainers.has(sandbox.id);
  const byPod = groupBy(sandboxes, (each) => each.pod.uid);
  return [...byPod].flatMap(([uid, group]) => {
    const newestFirst = sorted(group, (a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    if (pods.contentMayBeRemoved(uid)) return because(newestFirst.filter(isIdle), 'its pod is gone');
    if (finishedPodsToo && pods.runtimeMayBeRemoved(uid)) {
      return because(newestFirst.filter(isIdle), 'its pod has finished');
    }
    return because(newestFirst.slice(1).filter(isIdle), 'a newer one took its place');
  });
}

function because(
  sandboxes: readonly PlannedSandbox[],
  why: SandboxReason,
): readonly Planned<PlannedSandbox, SandboxReason>[] {
  return sandboxes.toReversed().map((item) => ({ item, why }));
}
