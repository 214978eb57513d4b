import type { Instant } from '../units/units.js';
import type { PlannedContainer, PlannedSandbox } from './inventory.js';
import type { OwnerScope } from './owner-scope.js';
import { type ContainerLimits, isDead } from './plan-containers.js';

/** Why a container that is not in a plan stays. */
export function whyContainerStays(
  container: PlannedContainer,
  rules: {
    readonly limits: ContainerLimits;
    readonly createdCountsAsDead: boolean;
    readonly ownerScope: OwnerScope;
    readonly now: Instant;
  },
): string {
  const { limits, createdCountsAsDead, ownerScope, now } = rules;
  if (container.pod === null) return 'it belongs to no pod, so it is nobody’s to remove';
  if (container.state === 'running') return 'it runs';
  if (!isDead(container, now, createdCountsAsDead)) return 'it was made a moment ago and may be about to start';
  if (container.createdAt > now - limits.minAge) return `below the minimum age of ${limits.minAge / 1_000} s`;
  if (ownerScope === 'images') return 'only images are to be removed (ownerScope)';
  if (ownerScope === 'gone-pods') return 'its pod is still there (ownerScope)';
  return 'it is among the dead ones that are kept';
}

/** Why a sandbox that is not in a plan stays. `isUsed`: a container that stays belongs to it. */
export function whySandboxStays(sandbox: PlannedSandbox, isUsed: boolean, ownerScope: OwnerScope): string {
  if (sandbox.state === 'ready') return 'it is ready';
  if (isUsed) return 'a container belongs to it';
  if (ownerScope === 'images') return 'only images are to be removed (ownerScope)';
  if (ownerScope === 'gone-pods') return 'its pod is still there (ownerScope)';
  return 'the newest of a pod that is there';
}
