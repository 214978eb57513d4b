import { isBelow } from '../eviction/evaluate.js';
import type { EvictionEvent } from '../eviction/event.js';
import { CLEANUP_WAIT } from '../eviction/remembered.js';
import type { Threshold } from '../eviction/threshold.js';
import { HARD_GRACE } from '../eviction/victim.js';
import type { PodRecord } from '../ports/pods.js';
import { type Instant, later, type Milliseconds, milliseconds } from '../units/units.js';
import { helpRuntime } from './help-runtime.js';
import type { Kill, KillFacts } from './kills.js';
import type { Pass } from './pass.js';

/** How often the node is looked at while a pod ends. */
const LOOK_WHILE_ENDING = milliseconds(250);
/** The least time that the kubelet gives a kill, whatever the grace (`killPodNow`). */
const KUBELET_WAITS_AT_LEAST = milliseconds(10_000);

/**
 * Tells a pod to end, and stays with it for half a minute at most, whatever its grace: what is still to come then stays in the
 * account. Answers with the kill, over or not.
 */
export async function* endPod(
  pass: Pass,
  pod: PodRecord,
  grace: Milliseconds,
  facts: Pick<KillFacts, 'signal' | 'expected' | 'availableBefore'>,
): AsyncGenerator<EvictionEvent, Kill> {
  const kill = sendKill(pass, pod, grace, facts);
  const { sentAt } = kill.facts;
  if (pass.settings.policy.eviction.hardDuringSoftGrace === 'waits') {
    await pass.deps.clock.sleep(milliseconds(Math.max(KUBELET_WAITS_AT_LEAST, grace * 1.5)), kill.over);
    yield* pass.tellAll(kill.take());
    return kill;
  }
  yield* stayWith(pass, kill, later(sentAt, CLEANUP_WAIT));
  return kill;
}

/** Sends a kill and books it. */
export function sendKill(
  pass: Pass,
  pod: PodRecord,
  grace: Milliseconds,
  facts: Pick<KillFacts, 'signal' | 'expected' | 'availableBefore'>,
): Kill {
  const hasten = new AbortController();
  const name = { uid: pod.uid, label: `${pod.namespace}/${pod.name}` };
  return pass.deps.kills.send(
    { ...facts, pod: name, sentAt: pass.now(), grace, hasten },
    pass.deps.killPod(pod, grace, pass.abort, hasten.signal),
  );
}

/**
 * Follows a kill until it is over or that time has come, and goes on looking meanwhile: a soft grace may last an hour, and a
 * hard line that is missed by then cuts it short, or nobody would answer to it. The kubelet lets the hard line wait its turn.
 */
export async function* stayWith(pass: Pass, kill: Kill, until: Instant): AsyncGenerator<EvictionEvent, void> {
  const { clock } = pass.deps;
  while (kill.outcome === null && clock.now() < until && !pass.abort.aborted) {
    await clock.sleep(LOOK_WHILE_ENDING, AbortSignal.any([kill.over, pass.abort]));
    yield* pass.tellAll(kill.take());
    if (kill.outcome !== null || pass.abort.aborted) break;
    yield* pass.look();
    yield* hastenIfHard(pass, kill);
    yield* helpRuntime(pass, kill);
  }
  yield* pass.tellAll(kill.take());
}

/** Cuts what is left of a soft grace when a hard line is missed by now. Answers whether it did. */
export async function* hastenIfHard(pass: Pass, kill: Kill): AsyncGenerator<EvictionEvent, boolean> {
  const { hasten, grace, pod } = kill.facts;
  if (grace <= HARD_GRACE || hasten.signal.aborted || pass.now() >= kill.graceEnds) return false;
  const threshold = missedHardLine(pass);
  if (threshold === undefined) return false;
  kill.hastenedAt = pass.now();
  yield* pass.tell({ kind: 'eviction-hastened', at: pass.now(), pod, threshold });
  hasten.abort();
  return true;
}

/** Books that what became of a kill is told; one that is not over goes on by itself. */
export function toldOf(pass: Pass, kill: Kill): void {
  kill.isTold = true;
  if (kill.outcome !== null) pass.deps.kills.drop(kill);
}

function missedHardLine(pass: Pass): Threshold | undefined {
  const { thresholds, lines } = pass.settings;
  return thresholds.find((threshold) => {
    const seen = pass.state.observations.get(threshold.signal);
    if (threshold.urgency.kind !== 'hard' || threshold.isDerived || seen === undefined) return false;
    return pass.state.pressing.has(threshold.id) && isBelow(threshold, seen, 'line', lines);
  });
}
