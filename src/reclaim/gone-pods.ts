import type { PodAnswers } from '../gc/inventory.js';
import type { Clock } from '../ports/clock.js';
import type { PodsPort } from '../ports/pods.js';
import type { RuntimePort } from '../ports/runtime.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import { answersOf } from './container-gc.js';

/** What telling gone pods needs from the world. */
export interface GonePodsDeps {
  readonly runtime: Pick<RuntimePort, 'listContainers' | 'listSandboxes'>;
  readonly pods: PodsPort;
  readonly clock: Clock;
  /** Whether a kubelet runs now. It knows pods that the runtime does not know yet. */
  kubeletRuns(): Promise<boolean>;
}

/**
 * How long nothing may have been seen of a pod before what is left of it goes. Who starts pods makes the directory of logs first,
 * then pulls and sets up the sandbox: longer than that takes.
 */
export const GONE_AFTER: Milliseconds = milliseconds(5 * 60_000);
/** Uids that are remembered at most; past that all wait anew. */
const MOST_REMEMBERED = 10_000;
/** A pod's uid: a UUID, or for a static pod 32 hexadecimal digits. `lost+found` and the like are none. */
const UID = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/;

/**
 * The two pod questions on a node without a kubelet, where the runtime alone knows pods. A pod is gone when nothing of it, with
 * the kubelet's labels or without, was listed for five minutes. While a kubelet runs the sources are not ready, and nobody is gone.
 */
export function gonePods(deps: GonePodsDeps): (signal: AbortSignal) => Promise<PodAnswers> {
  const { runtime, pods, clock } = deps;
  const missingSince = new Map<string, Instant>();
  return async (signal) => {
    const containers = await runtime.listContainers(signal);
    const sandboxes = await runtime.listSandboxes(signal);
    const listed = await pods.list(containers, sandboxes, signal);
    const answers = answersOf(listed);
    const knowsAll = pods.knowsAll?.() === true;
    const known = new Set(listed.map((each) => each.uid));
    // One that was made by hand is no pod, and its directory is no orphan all the same.
    const held = new Set([
      ...sandboxes.map((each) => each.pod.uid),
      ...containers.flatMap((each) => each.pod?.uid ?? []),
    ]);
    if (!knowsAll) for (const uid of held) known.add(uid);
    // Asked last: one that has just come may have made a directory while we listed.
    const isAlone = !(await deps.kubeletRuns());
    const now = clock.now();
    for (const uid of missingSince.keys()) if (known.has(uid)) missingSince.delete(uid);
    if (missingSince.size > MOST_REMEMBERED) missingSince.clear();
    return {
      allSourcesReady: isAlone,
      contentMayBeRemoved(uid) {
        if (!isAlone || uid === '' || known.has(uid)) return false;
        if (knowsAll) return true;
        if (!UID.test(uid)) return false;
        const since = missingSince.get(uid) ?? now;
        missingSince.set(uid, since);
        return elapsed(since, now) >= GONE_AFTER;
      },
      runtimeMayBeRemoved: (uid) => answers.runtimeMayBeRemoved(uid),
    };
  };
}
