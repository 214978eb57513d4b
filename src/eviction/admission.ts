import { asksForSomething } from './pod-resources.js';
import type { PodSpec, Toleration } from './pod-spec.js';
import { EVICTION_REASON } from './pod-status.js';
import type { NodeCondition } from './signal.js';
import { type PodStation, whyCritical } from './victim.js';

/** A pod that is about to start here. */
export interface Newcomer extends PodStation {
  /** Who makes it, as `Kind/name`; absent = nobody says. */
  readonly owner?: string;
  readonly spec: PodSpec;
}

/** Whether a newcomer is let in; if not, under which conditions. */
export type AdmissionAnswer =
  | { readonly admitted: true }
  | {
      readonly admitted: false;
      readonly reason: typeof EVICTION_REASON | typeof NOT_YET_REASON;
      readonly conditions: readonly NodeCondition[];
    };

/** Why nobody is let in before the first look after a start. */
export const NOT_YET_REASON = 'NotYetLooked';

/** The taint that a node under memory pressure is given. */
const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const;

/**
 * Whether a pod may start before anything was seen: nobody may, since nobody knows how the node fares. A condition that was
 * remembered says more than that.
 */
export function admitUnseen(remembered: readonly NodeCondition[]): AdmissionAnswer {
  return { admitted: false, reason: remembered.length > 0 ? EVICTION_REASON : NOT_YET_REASON, conditions: remembered };
}

/**
 * Whether a pod may start while these conditions are reported. Critical pods may; when memory alone is short, so may those that
 * asked for some or tolerate it. Nothing helps against a short disk. Mirrors the eviction manager's `Admit`.
 */
export function admit(pod: Newcomer, conditions: readonly NodeCondition[]): AdmissionAnswer {
  if (conditions.length === 0 || whyCritical(pod) !== null) return { admitted: true };
  const onlyMemory = conditions.every((each) => each === 'MemoryPressure');
  if (onlyMemory && (!isBestEffort(pod.spec) || pod.spec.tolerations.some(toleratesMemoryPressure))) {
    return { admitted: true };
  }
  return { admitted: false, reason: EVICTION_REASON, conditions };
}

/** Whether nothing was asked for and nothing limited, of CPU and memory. Mirrors `GetPodQOS`. */
export function isBestEffort({ containers, podRequests, podLimits }: PodSpec): boolean {
  return ![
    podRequests,
    podLimits,
    ...containers.filter(({ kind }) => kind !== 'ephemeral').flatMap(({ requests, limits }) => [requests, limits]),
  ].some(asksForSomething);
}

/** Mirrors `ToleratesTaint` for the one taint asked about, which has no value. */
function toleratesMemoryPressure({ key, operator, value, effect }: Toleration): boolean {
  if (effect !== null && effect !== MEMORY_TAINT.effect) return false;
  if (key !== null && key !== MEMORY_TAINT.key) return false;
  return operator === 'Exists' || (key !== null && value === '');
}
