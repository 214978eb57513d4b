import type { Pressed } from '../eviction/decide.js';
import type { EvictionEvent } from '../eviction/event.js';
import { sustainedFillRate } from '../eviction/fill-rate.js';
import { NOTABLE_RATE } from '../eviction/filling.js';
import { SIGNALS } from '../eviction/signal.js';
import type { EvictionState } from '../eviction/state.js';
import { chooseVictim } from '../eviction/victim.js';
import type { ReclaimRun } from '../reclaim/run.js';
import { milliseconds } from '../units/units.js';
import { type Ranking, rank } from './candidates.js';
import type { Pass } from './pass.js';

/**
 * Garbage that lasts less is not worth its loss: to choose takes half a second, a hard grace one, and the stop of a pod on a
 * disk that fills meanwhile up to seventeen seconds, measured on containerd. It would be gone, and the pod would go all the
 * same.
 */
const WORTH_COLLECTING = milliseconds(10_000);
/**
 * What is left for the stop of a pod: a runtime records it in its database, and a writer eats on until the stop reaches it. A
 * judgement, not a measurement.
 */
const ROOM_FOR_STOP = 16 * 1024 * 1024;
/** An image lies on the disk as blob and as snapshot, so that it may bring twice what is claimed. */
const BROUGHT_PER_CLAIMED = 2;

/**
 * Who has to go before anything is collected, or null: a pod that may go, comes first in rank, and is seen filling the disk so
 * fast that all garbage would last seconds only. Where nobody is seen to, or the size of the garbage is not known, it is
 * collected first as ever.
 */
export async function* writerToGoFirst(pass: Pass, pressed: Pressed): AsyncGenerator<EvictionEvent, Ranking | null> {
  const { signal } = pressed.threshold;
  if (pass.settings.policy.eviction.fastWriter === 'garbage-first') return null;
  if (!pressed.thresholds.some(({ urgency }) => urgency.kind === 'hard')) return null;
  if (pass.deps.meter === undefined || pass.deps.evictionOff() !== null || pass.state.seriesEnded !== null) return null;
  if (SIGNALS[signal].unit !== 'bytes') return null;
  const rate = sustainedFillRate(pass.state, signal, pass.now());
  if (rate < NOTABLE_RATE.bytes) return null;
  const garbage = await garbageBytes(pass, pressed).catch(() => null);
  if (garbage === null || (garbage / rate) * 1_000 >= WORTH_COLLECTING) return null;
  // What goes wrong here goes wrong again after collecting, and is told there.
  const ranking = yield* rankQuietly(pass, pressed);
  if (ranking === null) return null;
  const victim = chooseVictim(ranking.standings, pass.missing(signal, pass.state.observations), pass.settings.policy);
  if (victim.kind === 'nobody' || victim.standing.isFilling !== true) return null;
  const pod = { uid: victim.standing.uid, label: victim.standing.label };
  yield* pass.tell({ kind: 'writer-goes-first', at: pass.now(), pod, signal, garbage, fillRate: rate });
  return ranking;
}

/**
 * What is pressed, with no more asked for than lets a stop succeed: on a full disk a runtime cannot store that a process has
 * ended. Null when there is enough already.
 */
export function roomForStop(pressed: Pressed, state: EvictionState): Pressed | null {
  const goals = pressed.goals
    .filter(({ signal }) => SIGNALS[signal].unit === 'bytes')
    .map(({ signal, target }) => ({
      signal,
      line: Math.min(ROOM_FOR_STOP, target),
      target: Math.min(ROOM_FOR_STOP, target),
    }));
  const isThere = goals.every(({ signal, target }) => (state.observations.get(signal)?.available ?? 0) >= target);
  return isThere ? null : { ...pressed, goals };
}

/** All that may be collected for this pressure, at most; null when the size of some of it is not known. */
async function garbageBytes(pass: Pass, pressed: Pressed): Promise<number | null> {
  const run = pass.runFor(pressed);
  const sizes = await Promise.all(pressed.steps.map((step) => sizesOf(step, pass, run)));
  let sum = 0;
  for (const size of sizes.flat()) {
    if (size === null) return null;
    sum += size;
  }
  return sum;
}

async function sizesOf(
  step: Pressed['steps'][number],
  { deps: { containerGC, imageGC } }: Pass,
  run: ReclaimRun,
): Promise<readonly (number | null)[]> {
  switch (step) {
    case 'containers':
      // A sandbox holds nothing but its entry.
      return (await containerGC.planUnusedContainers(run)).map(({ subject: { what, claimed } }) =>
        what === 'sandbox' ? (claimed ?? 0) : claimed,
      );
    case 'images':
      return (await imageGC.planUnusedImages(run)).flatMap(({ item, verdict }) =>
        verdict.kind === 'goes' ? [item.size * BROUGHT_PER_CLAIMED] : [],
      );
  }
}

async function* rankQuietly(pass: Pass, pressed: Pressed): AsyncGenerator<EvictionEvent, Ranking | null> {
  try {
    return yield* rank(pass, pressed);
  } catch {
    return null;
  }
}
