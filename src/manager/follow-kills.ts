import type { EvictionEvent } from '../eviction/event.js';
import { CLEANUP_WAIT } from '../eviction/remembered.js';
import { elapsed, milliseconds } from '../units/units.js';
import { activePods } from './candidates.js';
import { hastenIfHard, sendKill, stayWith, toldOf } from './end-pod.js';
import { helpRuntime } from './help-runtime.js';
import type { Kill } from './kills.js';
import type { Pass } from './pass.js';

/** At the beginning of a pass: what has become of the pods that earlier ones have told to end. */
export async function* followKills(pass: Pass): AsyncGenerator<EvictionEvent, void> {
  if (pass.settings.policy.eviction.nextEviction === 'after-effect-was-measured') await resume(pass);
  for (const kill of pass.deps.kills.ongoing) {
    yield* pass.tellAll(kill.take());
    if (kill.isTold) {
      if (kill.outcome !== null) pass.deps.kills.drop(kill);
      continue;
    }
    if (kill.outcome === null && (yield* hastenIfHard(pass, kill))) {
      // The line waits for this one alone.
      pass.hasChosen = true;
      yield* stayWith(pass, kill, kill.waitUntil);
    }
    if (kill.outcome === null) yield* helpRuntime(pass, kill);
    if (kill.outcome !== null || pass.now() >= kill.waitUntil) yield* tellEnd(pass, kill);
  }
}

async function* tellEnd(pass: Pass, kill: Kill): AsyncGenerator<EvictionEvent, void> {
  const { pod, signal, expected, availableBefore, sentAt } = kill.facts;
  const outcome = kill.outcomeSoFar;
  if (outcome.kind === 'gone' || outcome.kind === 'remains') {
    // What was measured of the victim is a lower bound: more may come than was expected.
    pass.deps.late.expect(null, {}, pass.now());
    yield* pass.look();
  }
  toldOf(pass, kill);
  yield* pass.tell({
    kind: 'pod-killed',
    at: pass.now(),
    pod,
    signal,
    expected,
    availableBefore,
    availableAfter: pass.state.observations.get(signal)?.available ?? availableBefore,
    waitUntil: kill.waitUntil,
    outcome,
    took: elapsed(sentAt, pass.now()),
  });
}

/**
 * Takes up an eviction that an earlier life of the daemon has begun: its stop broke off with it, and a runtime whose stop is
 * broken off within the grace never kills (seen on containerd).
 */
async function resume(pass: Pass): Promise<void> {
  const underWay = pass.state.evictionUnderWay;
  const { deps } = pass;
  if (underWay === null || underWay.isGone || deps.kills.hasSent(underWay.podUid) || deps.evictionOff() !== null)
    return;
  const now = pass.now();
  if (now >= underWay.waitUntil) return;
  const pods = await activePods(pass).catch(() => null);
  const pod = pods?.find(({ uid }) => uid === underWay.podUid);
  if (pod === undefined) return;
  const grace = milliseconds(Math.max(0, underWay.waitUntil - CLEANUP_WAIT - now));
  sendKill(pass, pod, grace, underWay);
}
