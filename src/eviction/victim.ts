import { type Milliseconds, milliseconds } from '../units/units.js';
import type { Policy } from './policy.js';
import type { Standing } from './rank.js';
import type { Threshold } from './threshold.js';

/** Priority from which the kubelet treats a pod as critical (`SystemCriticalPriority`). */
export const CRITICAL_PRIORITY = 2_000_000_000;
/** Grace that a hard eviction gives. */
export const HARD_GRACE = milliseconds(1_000);
/** A pod whose end failed is tried again after this; meanwhile the next candidate is considered. */
export const RETRY_KILL_AFTER = milliseconds(60_000);
/** A pod that holds less than this share of what is missing is passed over: its end would change nothing. */
const WORTHWHILE_SHARE = 1 / 100;

/** Who goes, or why nobody does. */
export type Victim =
  | { readonly kind: 'victim'; readonly standing: Standing }
  | { readonly kind: 'nobody'; readonly reason: string };

/**
 * Picks the first ranked pod that may go and is worth it. `missing` is how much has to come back. Pure: dry run, replay and
 * the daemon ask the same question.
 */
export function chooseVictim(ranking: readonly Standing[], missing: number, policy: Policy): Victim {
  if (ranking.length === 0) return { kind: 'nobody', reason: 'no pod runs here' };
  const mayGo = ranking.filter((each) => each.protectedBy === null);
  if (mayGo.length === 0) {
    return {
      kind: 'nobody',
      reason: `all ${ranking.length} pods are protected (${reasonsOf(ranking)})${writerText(ranking)}`,
    };
  }
  const worthwhile =
    policy.eviction.smallPods === 'ranked' ? mayGo : mayGo.filter((each) => isWorthwhile(each, missing));
  const [standing] = worthwhile;
  if (standing === undefined) {
    return { kind: 'nobody', reason: `no pod that may go holds a hundredth of what is missing${writerText(ranking)}` };
  }
  return { kind: 'victim', standing };
}

/** What tells whether a pod is critical. */
export interface PodStation {
  readonly isMirror: boolean;
  /** `kubernetes.io/config.source`; null when nobody says, which is taken as the API server's. */
  readonly source: string | null;
  readonly priority: number | null;
}

/** Why a pod is critical, or null. Such a pod is never evicted and always admitted. Mirrors `IsCriticalPod`. */
export function whyCritical({ isMirror, source, priority }: PodStation): string | null {
  if (source !== null && source !== 'api') return `static pod (from ${source})`;
  if (isMirror) return 'mirror of a static pod';
  if (priority !== null && priority >= CRITICAL_PRIORITY) return `critical priority ${priority}`;
  return null;
}

/** What is known about a pod that can protect it. */
export interface PodStanding extends PodStation {
  readonly namespace: string;
  /** Absent = none. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isUnderWay: boolean;
  /** Its end failed less than `RETRY_KILL_AFTER` ago. */
  readonly hasJustFailed: boolean;
}

/** What else an operator says of pods that never go. */
export interface PodProtection {
  /** From this priority on; null = the critical ones alone. */
  readonly priority: number | null;
  /** The annotation that keeps a pod when it says `true`; null = none does. */
  readonly annotation: string | null;
}

const NO_PROTECTION: PodProtection = { priority: null, annotation: null };

/**
 * Why a pod never goes, or null. Static and mirror pods and critical priorities are the kubelet's rule (`IsCriticalPod`);
 * namespaces are the operator's, since the runtime tells nobody's priority.
 */
export function protectionOf(
  pod: PodStanding,
  protectedNamespaces: readonly string[],
  { priority, annotation }: PodProtection = NO_PROTECTION,
): string | null {
  const critical = whyCritical(pod);
  if (critical !== null) return critical;
  if (protectedNamespaces.includes(pod.namespace)) return `namespace ${pod.namespace} is protected`;
  if (priority !== null && pod.priority !== null && pod.priority >= priority) {
    return `priority ${pod.priority} is protected, from ${priority}`;
  }
  if (annotation !== null && pod.annotations?.[annotation] === 'true') return `annotated ${annotation}: true`;
  if (pod.isUnderWay) return 'was told to end already';
  if (pod.hasJustFailed) return 'could not be ended a moment ago';
  return null;
}

/**
 * The grace that an eviction gives. Hard: one second. Soft: the pod's own, capped by `maxPodGrace` (null = no cap). Mirrors
 * step 19 of `synchronize`.
 */
export function evictionGrace(
  threshold: Threshold,
  podGrace: Milliseconds | null,
  maxPodGrace: Milliseconds | null,
): Milliseconds {
  if (threshold.urgency.kind === 'hard') return HARD_GRACE;
  const own = podGrace ?? DEFAULT_POD_GRACE;
  return maxPodGrace === null || own < maxPodGrace ? own : maxPodGrace;
}

/** What Kubernetes gives a pod that does not say. */
const DEFAULT_POD_GRACE = milliseconds(30_000);

/** Those who are seen filling the disk and stay all the same: no eviction of others ends that for long. */
export function protectedFillers(ranking: readonly Standing[]): readonly Standing[] {
  return ranking.filter(({ isFilling, protectedBy }) => isFilling === true && protectedBy !== null);
}

/** Without numbers: they change from pass to pass, and the reason is said once. */
function writerText(ranking: readonly Standing[]): string {
  const fillers = protectedFillers(ranking).map(({ label, protectedBy }) => `${label} (${protectedBy})`);
  return fillers.length === 0 ? '' : `; what fills the disk now stays: ${fillers.slice(0, 3).join(', ')}`;
}

function isWorthwhile(standing: Standing, missing: number): boolean {
  if (standing.isFilling === true) return true;
  return standing.usage === null || standing.usage >= missing * WORTHWHILE_SHARE;
}

function reasonsOf(ranking: readonly Standing[]): string {
  return [...new Set(ranking.map((each) => each.protectedBy ?? ''))].slice(0, 3).join('; ');
}
