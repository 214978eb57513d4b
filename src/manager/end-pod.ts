import { isBelow } from '../eviction/evaluate.js';
import type { EvictionEvent, KillOutcome } from '../eviction/event.js';
import type { Threshold } from '../eviction/threshold.js';
import { HARD_GRACE } from '../eviction/victim.js';
import type { PodRecord } from '../ports/pods.js';
import { type Milliseconds, milliseconds } from '../units/units.js';
import type { Pass } from './pass.js';

/** How often the node is looked at while a pod ends with a grace of its own. */
const LOOK_WHILE_ENDING = milliseconds(250);

/**
 * Ends a pod, and goes on looking meanwhile: a soft grace may last an hour, and a hard line that is missed by then cuts it
 * short, or nobody would answer to it. The kubelet lets the hard line wait its turn.
 */
export async function* endPod(
  pass: Pass,
  pod: PodRecord,
  grace: Milliseconds,
): AsyncGenerator<EvictionEvent, KillOutcome> {
  const hasten = new AbortController();
  const kill = pass.deps.killPod(pod, grace, pass.abort, hasten.signal);
  const cuts = pass.settings.policy.eviction.hardDuringSoftGrace === 'cuts-grace';
  if (!cuts || grace <= HARD_GRACE) return yield* pass.folding(kill);
  const over = new AbortController();
  const told: EvictionEvent[] = [];
  const killing = drain(kill, told).finally(() => {
    over.abort();
  });
  while (!over.signal.aborted) {
    await pass.deps.clock.sleep(LOOK_WHILE_ENDING, over.signal);
    if (over.signal.aborted || hasten.signal.aborted) continue;
    yield* pass.look();
    const threshold = missedHardLine(pass);
    if (threshold === undefined) continue;
    const name = { uid: pod.uid, label: `${pod.namespace}/${pod.name}` };
    yield* pass.tell({ kind: 'eviction-hastened', at: pass.now(), pod: name, threshold });
    hasten.abort();
  }
  yield* pass.tellAll(told);
  return killing;
}

function missedHardLine(pass: Pass): Threshold | undefined {
  const { thresholds, lines } = pass.settings;
  return thresholds.find((threshold) => {
    const seen = pass.state.observations.get(threshold.signal);
    if (threshold.urgency.kind !== 'hard' || threshold.isDerived || seen === undefined) return false;
    return pass.state.pressing.has(threshold.id) && isBelow(threshold, seen, 'line', lines);
  });
}

/** Runs a kill to its end, its events kept. */
async function drain(kill: AsyncGenerator<EvictionEvent, KillOutcome>, told: EvictionEvent[]): Promise<KillOutcome> {
  for (;;) {
    const next = await kill.next();
    if (next.done === true) return next.value;
    told.push(next.value);
  }
}
