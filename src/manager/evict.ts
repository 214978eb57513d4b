import { isRelieved, type Pressed } from '../eviction/decide.js';
import type { EvictionEvent } from '../eviction/event.js';
import { graceOverrideSeconds, workerGrace } from '../eviction/kubelet-quirks.js';
import { evictionMessage } from '../eviction/message.js';
import { evictionMessageData } from '../eviction/message-data.js';
import { statusForNode } from '../eviction/pod-status.js';
import { SIGNALS } from '../eviction/signal.js';
import { chooseVictim, evictionGrace } from '../eviction/victim.js';
import type { PodRecord } from '../ports/pods.js';
import { SPACE_COMES_WITHIN } from '../reclaim/late-space.js';
import { messageOf } from '../reclaim/removal.js';
import { settle } from '../reclaim/settle.js';
import { elapsed } from '../units/units.js';
import { type Ranking, rank } from './candidates.js';
import { endPod, toldOf } from './end-pod.js';
import type { Pass } from './pass.js';

/** Ranks the pods unless that was done a moment ago, picks one, ends it, and measures what that brought. */
export async function* evict(
  pass: Pass,
  pressed: Pressed,
  known: Ranking | null = null,
): AsyncGenerator<EvictionEvent, void> {
  const { signal } = pressed.threshold;
  const observation = pass.state.observations.get(signal);
  if (observation === undefined) return;
  const off = pass.deps.evictionOff();
  if (off !== null) return yield* helpless(pass, pressed, off);
  if (pass.state.seriesEnded !== null) {
    return yield* helpless(pass, pressed, 'the last eviction freed next to nothing, so no other pod goes for now');
  }
  const { policy } = pass.settings;
  const ranked = known ?? (yield* rankOrTell(pass, pressed));
  if (ranked === null) return yield* helpless(pass, pressed, 'the pods to choose from cannot be listed');
  // Choosing took its time: look once more, the world may have recovered.
  if (policy.eviction.looksAgain === 'before-each-choice-folded') {
    if (!(yield* pass.look()) || isRelieved(pressed, pass.state.observations, pass.settings)) return;
  }
  const { line, target } = pass.settings.lines.lineOf(pressed.threshold, observation.capacity);
  if (pass.deps.space !== undefined) yield* pass.deps.space.ask(pass, pressed, ranked);
  const missing = pass.missing(signal, pass.state.observations);
  const victim = chooseVictim(ranked.standings, missing, pass.settings.policy);
  if (victim.kind === 'nobody') return yield* helpless(pass, pressed, victim.reason, 'nobody');
  const pod = ranked.pods.get(victim.standing.uid);
  if (pod === undefined) return;
  pass.hasChosen = true;
  const override = overrideFor(pass, pressed, pod);
  const grace =
    override === null
      ? evictionGrace(pressed.threshold, pod.terminationGrace, pass.deps.maxPodGrace)
      : workerGrace(override);
  const message = evictionMessage(pressed.threshold, observation, { line, target }, victim.standing, {
    rank: ranked.standings.indexOf(victim.standing) + 1,
    of: ranked.standings.length,
  });
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
    ...(override === null ? {} : { graceOverrideSeconds: override }),
    message,
    status: statusForNode(message),
    ...(policy.eviction.announces === 'deeds' ? {} : { annotations: await annotationsFor(pass, pressed, pod) }),
  });
  const run = pass.runFor(pressed);
  const availableBefore = await run.look();
  const began = pass.now();
  const facts = {
    signal,
    expected: victim.standing.usage,
    availableBefore: availableBefore[signal] ?? observation.available,
  };
  const kill = yield* endPod(pass, pod, grace, facts);
  const outcome = kill.outcomeSoFar;
  if (kill.outcome === null && policy.eviction.nextEviction === 'after-effect-was-measured') {
    const { waitUntil } = kill;
    return yield* pass.tell({ kind: 'kill-outstanding', at: pass.now(), pod: name, ...facts, waitUntil });
  }
  toldOf(pass, kill);
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
    ...facts,
    availableAfter: settled[signal] ?? observation.available,
    waitUntil: kill.waitUntil,
    outcome,
    took: elapsed(began, pass.now()),
  });
}

/** The ranking, or null when the pods cannot be listed, which is told. */
export async function* rankOrTell(pass: Pass, pressed: Pressed): AsyncGenerator<EvictionEvent, Ranking | null> {
  try {
    return yield* rank(pass, pressed);
  } catch (error) {
    const message = messageOf(error);
    yield* pass.tell({ kind: 'list-failed', at: pass.now(), what: 'the pods to choose from', message });
    return null;
  }
}

/**
 * What the kubelet's event of an eviction carries beside its sentence: who uses more than was asked for. A pod of which nobody can
 * tell gets none, and no eviction waits for more than one short look at its files.
 */
async function annotationsFor(
  { deps: { storageLimits }, state: { observations }, abort }: Pass,
  { threshold, thresholds }: Pressed,
  pod: PodRecord,
): Promise<Readonly<Record<string, string>>> {
  const { resource } = SIGNALS[threshold.signal];
  const stats =
    resource === 'ephemeral-storage'
      ? await storageLimits?.measure([pod], abort).then(
          (measured) => measured.get(pod.uid) ?? null,
          () => null,
        )
      : null;
  const told = { name: pod.name, spec: pod.spec ?? null, stats: stats ?? null };
  return evictionMessageData(resource, told, thresholds, observations).annotations;
}

/** The grace in the kubelet's terms, or null where the profile has its own. */
function overrideFor(pass: Pass, { threshold }: Pressed, { terminationGrace }: PodRecord): number | null {
  const { maxPodGraceSeconds, maxPodGrace } = pass.deps;
  if (pass.settings.policy.eviction.softGrace === 'own-or-cap') return null;
  return graceOverrideSeconds(threshold, terminationGrace, maxPodGraceSeconds ?? (maxPodGrace ?? 0) / 1_000);
}

/** Says once why nothing helps, and again only when the reason changes. */
export async function* helpless(
  pass: Pass,
  pressed: Pressed,
  reason: string,
  cause: 'nobody' | 'other' = 'other',
): AsyncGenerator<EvictionEvent, void> {
  const observation = pass.state.observations.get(pressed.threshold.signal);
  if (observation === undefined || pass.state.helpless === reason) return;
  const isNews = cause === 'nobody' && pass.deps.warnings?.notices.begins('NO_EVICTABLE_POD here') === true;
  const nobody = isNews ? { nobody: true as const } : {};
  yield* pass.tell({ kind: 'helpless', at: pass.now(), reason, threshold: pressed.threshold, observation, ...nobody });
}
