import type { PlannedContainer } from './inventory.js';

/** A container of one pod, as the deletor sees it. */
export type PodContainer = Pick<PlannedContainer, 'id' | 'name' | 'state' | 'createdAt'>;

/** At least so many dead instances of a container stay behind after a death, so that its logs can be read. */
const KEPT_AT_LEAST = 1;

/** How many dead instances the deletor keeps; null = no limit for periodic collecting, which still keeps one here. */
export function keptByDeletor(maxPerPodContainer: number | null): number {
  return Math.max(maxPerPodContainer ?? 0, KEPT_AT_LEAST);
}

/**
 * The ended containers of a pod that go after a death, newest first: all but the newest `kept`, of the same name as `dead`,
 * or of the whole pod when `dead` is null. Nothing when `dead` is not among them. Created and unknown ones stay. Mirrors
 * `getContainersToDeleteInPod`; equal creation times are ordered by id.
 */
export function planDeletions(
  containers: readonly PodContainer[],
  dead: string | null,
  kept: number,
): readonly PodContainer[] {
  const name = dead === null ? null : containers.find((each) => each.id === dead)?.name;
  if (name === undefined) return [];
  return containers
    .filter((each) => each.state === 'exited' && (name === null || each.name === name))
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    .slice(kept);
}
