import { isRelieved, type Pressed } from '../eviction/decide.js';
import type { EvictionEvent } from '../eviction/event.js';
import { evictionMessage } from '../eviction/message.js';
import { type Candidate, rankPods, type Standing } from '../eviction/rank.js';
import { SIGNALS } from '../eviction/signal.js';
import { chooseVictim, evictionGrace, protectionOf, RETRY_KILL_AFTER } from '../eviction/victim.js';
import type { PodRecord } from '../ports/pods.js';
import { SPACE_COMES_WITHIN } from '../reclaim/late-space.js';
import { messageOf } from '../reclaim/removal.js';
import { settle } from '../reclaim/settle.js';
import { elapsed, later, milliseconds } from '../units/units.js';
import type { Pass } from './pass.js';

/** How long after a pod's grace its space is still waited for; the kubelet's wait for cleanup. */
const CLEANUP_WAIT = milliseconds(30_000);

/** Ranks the pods, picks one, ends it, and measures what that brought. */
export async function* evict(pass: Pass, pressed: Pressed): AsyncGenerator<EvictionEvent, void> {
  const { signal } = pressed.threshold;
  const observation = pass.state.observations.get(signal);
  if (observation === undefined) return;
  const off = pass.deps.evictionOff();
  if (off !== null) return yield* helpless(pass, pressed, off);
  if (pass.state.seriesEnded !== null) {
    return yield* helpless(pass, pressed, 'the last eviction freed next to nothing, so no other pod goes for now');
  }
  const ranked = await rank(pass, pressed).catch((error: unknown) => messageOf(error));
  if (typeof ranked === 'string') {
    yield* pass.tell({ kind: 'list-failed', at: pass.now(), what: 'the pods to choose from', message: ranked });
    return yield* helpless(pass, pressed, 'the pods to choose from cannot be listed');
  }
  // Choosing took its time: look once more, the world may have recovered.
  yield* pass.look();
  if (isRelieved(pressed, pass.state.observations, pass.settings)) return;
  const { line, target } = pass.settings.lines.lineOf(pressed.threshold, observation.capacity);
  const missing = pass.missing(signal, pass.state.observations);
  const victim = chooseVictim(ranked.standings, missing, pass.settings.policy);
  if (victim.kind === 'nobody') return yield* helpless(pass, pressed, victim.reason);
  const pod = ranked.pods.get(victim.standing.uid);
  if (pod === undefined) return;
  pass.hasChosen = true;
  const grace = evictionGrace(pressed.threshold, pod.terminationGrace, pass.deps.maxPodGrace);
  const name = { uid: pod.uid, label: victim.standing.label };
  yield* pass.tell({
    kind: 'eviction-decided',
    at: pass.now(),
    pod: name,
    threshold: pressed.threshold,
    observation,
    line,
    target,
    ranking: ranked.standings,
    grace,
    message: evictionMessage(pressed.threshold, observation, { line, target }, victim.standing, {
      rank: ranked.standings.indexOf(victim.standing) + 1,
      of: ranked.standings.length,
    }),
  });
  const run = pass.runFor(pressed);
  const availableBefore = await run.look();
  const began = pass.now();
  const outcome = yield* pass.folding(pass.deps.killPod(pod, grace, pass.abort));
  const settled =
    outcome.kind === 'gone' && pass.settings.policy.gc.waitsForSpace
      ? (await settle(run, availableBefore, victim.standing.usage, SPACE_COMES_WITHIN)).available
      : await run.look();
  // What was measured of the victim is a lower bound, layers up to ten seconds old: more may come than was expected.
  if (outcome.kind !== 'failed' && outcome.kind !== 'unverified' && pass.settings.policy.gc.waitsForSpace)
    run.late.expect(null, settled, pass.now());
  yield* pass.tell({
    kind: 'pod-killed',
    at: pass.now(),
    pod: name,
    signal,
    expected: victim.standing.usage,
    availableBefore: availableBefore[signal] ?? observation.available,
    availableAfter: settled[signal] ?? observation.available,
    waitUntil: later(later(began, grace), CLEANUP_WAIT),
    outcome,
    took: elapsed(began, pass.now()),
  });
}

/** Says once why nothing helps, and again only when the reason changes. */
export async function* helpless(pass: Pass, pressed: Pressed, reason: string): AsyncGenerator<EvictionEvent, void> {
  const observation = pass.state.observations.get(pressed.threshold.signal);
  if (observation === undefined || pass.state.helpless === reason) return;
  yield* pass.tell({ kind: 'helpless', at: pass.now(), reason, threshold: pressed.threshold, observation });
}

/** The active pods in the order in which they would go, with what each uses now. */
export async function rank(
  pass: Pass,
  pressed: Pressed,
): Promise<{ standings: readonly Standing[]; pods: ReadonlyMap<string, PodRecord> }> {
  const { runtime, pods, protectedNamespaces } = pass.deps;
  const { signal } = pressed.threshold;
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainers(pass.abort),
    runtime.listSandboxes(pass.abort),
  ]);
  const active = (await pods.list(containers, sandboxes, pass.abort)).filter((pod) => !pod.isFinished);
  const neverAgain = pass.settings.policy.eviction.toldPods === 'never-again';
  const usage = await pass.deps.measurePods(active, signal, pass.layout, pass.abort);
  const candidates = active.map(
    (pod): Candidate => ({
      uid: pod.uid,
      label: `${pod.namespace}/${pod.name}`,
      priority: pod.priority,
      usage: usage.get(pod.uid) ?? null,
      request: SIGNALS[signal].resource === 'memory' ? pod.memoryRequest : pod.storageRequest,
      protectedBy: protectionOf(
        {
          ...pod,
          isUnderWay: neverAgain && pass.state.toldToEnd.has(pod.uid),
          hasJustFailed: neverAgain && hasJustFailed(pass, pod.uid),
        },
        protectedNamespaces,
      ),
    }),
  );
  return {
    standings: rankPods(candidates, signal, pass.settings.policy),
    pods: new Map(active.map((pod) => [pod.uid, pod])),
  };
}

function hasJustFailed(pass: Pass, uid: string): boolean {
  const at = pass.state.killFailed.get(uid);
  return at !== undefined && elapsed(at, pass.now()) < RETRY_KILL_AFTER;
}
