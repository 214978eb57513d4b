import type { Pressed } from '../eviction/decide.js';
import type { EvictionEvent } from '../eviction/event.js';
import { fillRateNow } from '../eviction/fill-rate.js';
import { withFillers } from '../eviction/filling.js';
import { podRequest } from '../eviction/pod-resources.js';
import { type Candidate, rankPods, type Standing } from '../eviction/rank.js';
import { SIGNALS, type Signal } from '../eviction/signal.js';
import { isImpossible, type PodUsage, type WriteRate, wholeUsage } from '../eviction/usage.js';
import { protectionOf, RETRY_KILL_AFTER } from '../eviction/victim.js';
import type { PodRecord } from '../ports/pods.js';
import { elapsed } from '../units/units.js';
import type { Pass } from './pass.js';

/** The pods in the order in which they would go. */
export interface Ranking {
  readonly standings: readonly Standing[];
  readonly pods: ReadonlyMap<string, PodRecord>;
}

/**
 * The active pods in the order in which they would go, with what each uses and writes now; `without` these containers, if any.
 * Rejects when they cannot be listed.
 */
export async function* rank(
  pass: Pass,
  pressed: Pressed,
  without: ReadonlySet<string> = new Set(),
): AsyncGenerator<EvictionEvent, Ranking> {
  const { signal } = pressed.threshold;
  const active = await activePods(pass);
  const counted = active.map((pod) => ({ ...pod, containers: pod.containers.filter(({ id }) => !without.has(id)) }));
  const measured = await pass.deps.measurePods(counted, signal, pass.layout, pass.abort);
  const usage = yield* possibleUsage(pass, signal, active, measured);
  const fillRate = fillRateNow(pass.state, signal, pass.now());
  const writes = await writesOf(pass, counted, signal, fillRate);
  const candidates = active.map((pod): Candidate => {
    const { total, parts } = usage.get(pod.uid) ?? wholeUsage(null);
    return {
      uid: pod.uid,
      label: labelOf(pod),
      priority: pod.priority,
      usage: total,
      ...(parts.length === 0 ? {} : { parts }),
      writes: writes.get(pod.uid) ?? null,
      request: requestOf(pod, signal),
      protectedBy: protectionIn(pass, pod),
    };
  });
  const marked = withFillers(candidates, fillRate, SIGNALS[signal].unit);
  return {
    standings: rankPods(marked, signal, pass.settings.policy),
    pods: new Map(active.map((pod) => [pod.uid, pod])),
  };
}

/** The pods that have not ended. Rejects when they cannot be listed. */
export async function activePods({ deps: { runtime, pods }, abort }: Pass): Promise<readonly PodRecord[]> {
  const [containers, sandboxes] = await Promise.all([runtime.listContainers(abort), runtime.listSandboxes(abort)]);
  return (await pods.list(containers, sandboxes, abort)).filter((pod) => !pod.isFinished);
}

/** Why a pod stays in this pass, or null. */
export function protectionIn(pass: Pass, pod: PodRecord): string | null {
  const neverAgain = pass.settings.policy.eviction.toldPods === 'never-again';
  const isUnderWay = neverAgain && pass.state.toldToEnd.has(pod.uid);
  if (pass.settings.policy.eviction.unknownPriority === 'keeps-system-pods' && isPerhapsCritical(pod)) {
    return `nobody tells its priority, and it is one of ${SYSTEM_NAMESPACE}`;
  }
  return protectionOf(
    { ...pod, isUnderWay, hasJustFailed: neverAgain && hasJustFailed(pass, pod.uid) },
    pass.deps.protectedNamespaces,
    pass.deps.protectedPods,
  );
}

/** Where Kubernetes keeps what a node cannot do without. */
const SYSTEM_NAMESPACE = 'kube-system';

function isPerhapsCritical({ namespace, priority }: PodRecord): boolean {
  return namespace === SYSTEM_NAMESPACE && priority === null;
}

/** Who is asked for only where the profile makes use of it; that nobody can tell stops no eviction. */
async function writesOf(
  pass: Pass,
  pods: readonly PodRecord[],
  signal: Signal,
  fillRate: number,
): Promise<ReadonlyMap<string, WriteRate>> {
  const { meter } = pass.deps;
  if (meter === undefined || pass.settings.policy.eviction.amongEquals === 'larger') return new Map();
  return meter.writes(pods, signal, pass.layout, fillRate, pass.abort).catch(() => new Map());
}

/** The usages that can be true. One above all that its filesystem has in use is no number, and is said. */
export async function* possibleUsage(
  pass: Pass,
  signal: Signal,
  pods: readonly PodRecord[],
  measured: ReadonlyMap<string, PodUsage>,
): AsyncGenerator<EvictionEvent, ReadonlyMap<string, PodUsage>> {
  const { filesystem, unit } = SIGNALS[signal];
  if (filesystem === null || pass.settings.policy.eviction.doubtfulNumbers === 'taken-as-told') return measured;
  // Seen after the walks: what a writer has added meanwhile is in use by then.
  const look = await pass.deps.looker.lookAt(filesystem);
  if (look.kind !== 'reading') return measured;
  const inodes = look.inodes === null ? Number.POSITIVE_INFINITY : look.inodes.total - look.inodes.free;
  const inUse = unit === 'bytes' ? look.capacity - look.available : inodes;
  const kept = new Map(measured);
  for (const pod of pods) {
    const total = measured.get(pod.uid)?.total ?? null;
    const key = `IMPOSSIBLE_USAGE ${pod.uid}`;
    if (total === null || !isImpossible(total, inUse)) {
      if (total !== null) pass.deps.warnings?.notices.ends(key);
      continue;
    }
    kept.set(pod.uid, wholeUsage(null));
    if (pass.deps.warnings?.notices.begins(key) === false) continue;
    const name = { uid: pod.uid, label: labelOf(pod) };
    const code = 'IMPOSSIBLE_USAGE';
    yield* pass.tell({ kind: 'usage-impossible', at: pass.now(), code, pod: name, signal, usage: total, inUse });
  }
  return kept;
}

/** What a pod asked for of the ranked resource. Where inodes are ranked it is the bytes: the policy says whether they count. */
function requestOf({ spec, memoryRequest, storageRequest }: PodRecord, signal: Signal): number | null {
  const resource = SIGNALS[signal].resource === 'memory' ? 'memory' : 'ephemeral-storage';
  if (spec !== null && spec !== undefined) return podRequest(spec, resource);
  return resource === 'memory' ? memoryRequest : storageRequest;
}

function hasJustFailed(pass: Pass, uid: string): boolean {
  const at = pass.state.killFailed.get(uid);
  return at !== undefined && elapsed(at, pass.now()) < RETRY_KILL_AFTER;
}

function labelOf({ namespace, name }: PodRecord): string {
  return `${namespace}/${name}`;
}
