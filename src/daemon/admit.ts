import { systemClock } from '../adapters/host/clock.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import type { Settings } from '../config/settings.js';
import type { AdmissionAnswer, Newcomer } from '../eviction/admission.js';
import type { EvictionState } from '../eviction/state.js';
import type { Admission } from '../reclaim/admission-guard.js';
import { buildParts, type Replacements } from './build.js';
import { endpointOf } from './endpoint.js';

/** Whether a pod may start on this node now, and from what that was told. */
export interface AdmissionVerdict {
  readonly admitted: boolean;
  /** By the node conditions. */
  readonly byConditions: AdmissionAnswer;
  /** By the guard against a disk that is nearly full; null = it is not configured. */
  readonly byGuard: Admission | null;
  /** The state after the one look. */
  readonly state: EvictionState;
  readonly endpoint: string;
}

/**
 * Looks once and judges a pod by what it saw, and by what the daemon has saved: a condition whose cause is gone and whose transition
 * period is not holds here too. Throws a `PortError` when there is no runtime to ask: nothing is known of the images' disk then.
 */
export async function admitOnce(
  settings: Settings,
  pod: Newcomer,
  pathExists: (path: string) => boolean,
  replacements: Replacements = {},
): Promise<AdmissionVerdict> {
  const endpoint = endpointOf(settings, pathExists);
  const kubeletRuns =
    (await replacements.kubeletRuns?.()) ?? (await hostNodeStats({ clock: systemClock() }).kubeletRuns());
  await using parts = buildParts(
    settings,
    { endpoint, kubeletRuns: () => kubeletRuns, changesNothing: true },
    replacements,
  );
  await parts.runtime.identify();
  for await (const _ of parts.manager.look()) {
    // What is told is folded into the manager's state, which is asked below.
  }
  const byConditions = parts.manager.admit(pod);
  const byGuard = (await parts.guard?.admit()) ?? null;
  const admitted = byConditions.admitted && (byGuard?.admitted ?? true);
  return { admitted, byConditions, byGuard, state: parts.manager.state, endpoint };
}
