/** The reason under which the API shows an evicted pod and a refused one. */
export const EVICTION_REASON = 'Evicted';

/** What an evicted pod's status says from then on. */
export interface EvictedPodStatus {
  readonly phase: 'Failed';
  readonly reason: typeof EVICTION_REASON;
  readonly message: string;
  /** Null for a pod over a limit of its own: that one is the pod's fault and disturbs nobody's budget. */
  readonly disruption: {
    readonly type: 'DisruptionTarget';
    readonly status: 'True';
    readonly reason: 'TerminationByKubelet';
    readonly message: string;
  } | null;
}

/** The status of a pod that goes for the node's sake. Mirrors the condition of `evictPod` with `PodDisruptionConditions`. */
export function statusForNode(message: string): EvictedPodStatus {
  const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message } as const;
  return { phase: 'Failed', reason: EVICTION_REASON, message, disruption };
}

/** The status of a pod that is over a limit of its own. */
export function statusForOwnLimit(message: string): EvictedPodStatus {
  return { phase: 'Failed', reason: EVICTION_REASON, message, disruption: null };
}
