import type { EvictionEvent } from '../eviction/event.js';
import { HARD_GRACE_SECONDS, workerGrace } from '../eviction/kubelet-quirks.js';
import { hasStorageLimits, type StorageViolation, storageViolation } from '../eviction/local-storage.js';
import { storageMessage } from '../eviction/message.js';
import type { PodStats } from '../eviction/pod-stats.js';
import { statusForOwnLimit } from '../eviction/pod-status.js';
import type { PodRecord } from '../ports/pods.js';
import { messageOf } from '../reclaim/removal.js';
import { elapsed, milliseconds } from '../units/units.js';
import { activePods, protectionIn } from './candidates.js';
import { endPod, toldOf } from './end-pod.js';
import type { CycleMode, Pass } from './pass.js';

/** The kubelet's pause between its passes, each of which measures. */
const CHECK_EVERY = milliseconds(10_000);
/** A pod that is over its own limit is the one to go before anybody else is chosen, so it is to be found soon then. */
const CHECK_PRESSED_EVERY = milliseconds(1_000);

/**
 * Evicts every pod that is over a limit of its own, one after the other, whatever the node has left. Answers whether one went:
 * then the pass ends, since what that brought has to be seen first. Nothing is done where limits are not enforced, and for pods
 * whose limits or use nobody knows. Mirrors `localStorageEviction`.
 */
export async function* enforceStorageLimits(pass: Pass, mode: CycleMode): AsyncGenerator<EvictionEvent, boolean> {
  const { storageLimits } = pass.deps;
  if (storageLimits === null || storageLimits === undefined || pass.deps.evictionOff() !== null) return false;
  if (!isDue(pass)) return false;
  const measured = await measuredPods(pass, (pods) => storageLimits.measure(pods, pass.abort)).catch(messageOf);
  if (typeof measured === 'string') {
    yield* pass.tell({
      kind: 'list-failed',
      at: pass.now(),
      what: 'the pods with limits of their own',
      message: measured,
    });
    yield* pass.tell({ kind: 'storage-limits-checked', at: pass.now(), pods: null });
    return false;
  }
  yield* pass.tell({ kind: 'storage-limits-checked', at: pass.now(), pods: measured.length });
  let hasEnded = false;
  for (const { pod, stats } of measured) {
    if (pass.abort.aborted) break;
    const { spec } = pod;
    if (spec === null || spec === undefined || stats === null) continue;
    const violation = storageViolation(spec, stats, pass.layout, pass.settings.policy.eviction.containerLimit);
    if (violation === null || protectionIn(pass, pod) !== null) continue;
    const name = { uid: pod.uid, label: `${pod.namespace}/${pod.name}` };
    yield* pass.tell({ kind: 'storage-limit-exceeded', at: pass.now(), pod: name, violation });
    if (mode === 'dry-run') continue;
    yield* end(pass, pod, name, violation);
    hasEnded = true;
  }
  return hasEnded;
}

/** What ten passes a second would ask for again and again is asked for as often as the kubelet does; sooner while a line is missed. */
function isDue(pass: Pass): boolean {
  const { limitsCheckedAt, pressing } = pass.state;
  if (pass.settings.policy.eviction.storageLimits === 'each-pass' || limitsCheckedAt === null) return true;
  if (pass.deps.isSingle === true) return true;
  return elapsed(limitsCheckedAt, pass.now()) >= (pressing.size > 0 ? CHECK_PRESSED_EVERY : CHECK_EVERY);
}

async function* end(
  pass: Pass,
  pod: PodRecord,
  name: { readonly uid: string; readonly label: string },
  violation: StorageViolation,
): AsyncGenerator<EvictionEvent, void> {
  const began = pass.now();
  const signal = 'nodefs.available';
  const availableBefore = pass.state.observations.get(signal)?.available ?? 0;
  const grace = workerGrace(HARD_GRACE_SECONDS);
  const kill = yield* endPod(pass, pod, grace, { signal, expected: null, availableBefore });
  toldOf(pass, kill);
  yield* pass.tell({
    kind: 'storage-limit-served',
    at: pass.now(),
    pod: name,
    violation,
    graceSeconds: HARD_GRACE_SECONDS,
    status: statusForOwnLimit(storageMessage(violation)),
    outcome: kill.outcomeSoFar,
    took: elapsed(began, pass.now()),
  });
}

/** Only pods that are known to have limits are measured: it means to walk their files. */
async function measuredPods(
  pass: Pass,
  measure: (pods: readonly PodRecord[]) => Promise<ReadonlyMap<string, PodStats | null>>,
): Promise<readonly { readonly pod: PodRecord; readonly stats: PodStats | null }[]> {
  const known = (await activePods(pass)).filter(
    ({ spec }) => spec !== null && spec !== undefined && hasStorageLimits(spec),
  );
  const stats = known.length === 0 ? new Map<string, PodStats | null>() : await measure(known);
  return known.map((pod) => ({ pod, stats: stats.get(pod.uid) ?? null }));
}
