import { assess } from '../eviction/assess.js';
import { decide, isEvictionOver, isRelieved, type Pressed } from '../eviction/decide.js';
import type { EvictionEvent, ReclaimOutcome } from '../eviction/event.js';
import { collectionsAhead } from '../eviction/foretell.js';
import { isFutile } from '../eviction/outstanding.js';
import { SIGNALS } from '../eviction/signal.js';
import type { EvictionState } from '../eviction/state.js';
import { buildSignalToNodeReclaimFuncs, type NodeReclaimFunc } from '../reclaim/node-reclaim-funcs.js';
import { messageOf, waitForLateSpace } from '../reclaim/removal.js';
import { addResults, isReached, nothingRemoved, type StepResult } from '../reclaim/run.js';
import { elapsed } from '../units/units.js';
import { tellPlan } from './dry-run.js';
import { evict, helpless } from './evict.js';
import { roomForStop, writerToGoFirst } from './fast-writer.js';
import { followKills } from './follow-kills.js';
import { layWhereRoomy, releaseWhereFull } from './keep-ballast.js';
import { type CycleDeps, type CycleMode, Pass } from './pass.js';
import { prepareChoice } from './prepare-choice.js';
import { enforceStorageLimits } from './storage-limits.js';
import { checkUsage } from './usage-check.js';

export type { CycleMode } from './pass.js';

/** Said, so that a runtime that stays away is asked once a second and not ten times. */
const NO_RUNTIME = 'the container runtime does not answer';

/**
 * One pass: look, decide, collect, look again, evict. Yields the story; returns the state after it. Never rejects: a fault of
 * our own is told in full, what was told before it counts, and the next pass tries again, since such a fault must not end the
 * protection of the node. An abort ends it between two steps. Mirrors the kubelet's `synchronize`.
 */
export async function* runPass(
  deps: CycleDeps,
  before: EvictionState,
  mode: CycleMode,
  abort: AbortSignal,
): AsyncGenerator<EvictionEvent, EvictionState> {
  const pass = new Pass(deps, before, abort);
  try {
    yield* play(pass, mode);
  } catch (error) {
    yield { kind: 'pass-failed', at: pass.now(), message: messageOf(error) };
  }
  for (const problem of deps.pods.takeProblems?.() ?? []) {
    yield* pass.tell({ kind: 'list-failed', at: pass.now(), ...problem });
  }
  yield* pass.tellAll(deps.keeper?.takeNews() ?? []);
  return pass.state;
}

/** Follows the kills that were sent, and does nothing else. */
export async function* followOnly(
  deps: CycleDeps,
  before: EvictionState,
  abort: AbortSignal,
): AsyncGenerator<EvictionEvent, EvictionState> {
  const pass = new Pass(deps, before, abort);
  if (yield* pass.look()) yield* followKills(pass);
  return pass.state;
}

async function* play(pass: Pass, mode: CycleMode): AsyncGenerator<EvictionEvent, void> {
  if (!(yield* pass.look())) return;
  const { judgedFrom } = pass;
  if (mode === 'act' && (yield* releaseWhereFull(pass)) && !(yield* pass.look())) return;
  if (mode === 'act') yield* followKills(pass);
  const { observations } = pass.state;
  if (mode === 'act') prepareChoice(pass);
  const assessment = assess(judgedFrom, observations, pass.state.lookedAt ?? pass.now(), pass.settings);
  yield* measureEviction(pass, assessment.fresh.length === 0);
  if (yield* enforceStorageLimits(pass, mode)) return;
  const decision = decide(pass.state, assessment, observations, pass.layout, pass.settings);
  for (const pressed of decision.kind === 'rest' ? [] : decision.pressed) {
    if (pass.abort.aborted) break;
    yield* mode === 'dry-run' ? tellPlan(pass, pressed) : serve(pass, pressed, decision.kind === 'serve');
  }
  if (decision.kind === 'rest') {
    pass.deps.space?.over(pass);
    if (mode === 'act') yield* checkUsage(pass);
  }
  if (decision.kind !== 'rest') pass.deps.ballast?.disturbed();
  else if (mode === 'act') yield* layWhereRoomy(pass);
  if (mode === 'act') yield* collectAhead(pass, decision.kind === 'rest' ? [] : decision.pressed);
}

/** Collects before any line is met where that was asked for and a filesystem will soon be full; pods are left alone. */
async function* collectAhead(pass: Pass, served: readonly Pressed[]): AsyncGenerator<EvictionEvent, void> {
  for (const { told, pressed } of collectionsAhead(pass.state, served, pass.layout, pass.now(), pass.settings)) {
    if (pass.abort.aborted) return;
    yield* pass.tell({ ...told, at: pass.now() });
    yield* collect(pass, pressed);
  }
}

/** When the effect of the last eviction is known, or waited for long enough, says what it brought. */
async function* measureEviction(pass: Pass, nothingIsDue: boolean): AsyncGenerator<EvictionEvent, void> {
  const underWay = pass.state.evictionUnderWay;
  const now = pass.now();
  if (underWay === null) return;
  if (!nothingIsDue && !isEvictionOver(pass.state, pass.state.observations, now)) return;
  const seen = pass.state.observations.get(underWay.signal);
  if (seen === undefined && now < underWay.waitUntil) return;
  const hasBroughtNothing = seen !== undefined && isFutile(underWay, seen.available);
  yield* pass.tell({
    kind: 'eviction-measured',
    at: now,
    pod: { uid: underWay.podUid, label: underWay.podLabel },
    signal: underWay.signal,
    expected: underWay.expected,
    availableBefore: underWay.availableBefore,
    availableAfter: seen?.available ?? null,
    missing: pass.missing(underWay.signal, pass.state.observations),
    endsSeries: !nothingIsDue && hasBroughtNothing && pass.settings.policy.eviction.futileEviction === 'ends-series',
    took: elapsed(underWay.killedAt, now),
  });
}

async function* serve(pass: Pass, pressed: Pressed, mayEvict: boolean): AsyncGenerator<EvictionEvent, void> {
  const { policy } = pass.settings;
  if (policy.eviction.announces === 'each-serving') {
    const { threshold } = pressed;
    const { resource } = SIGNALS[threshold.signal];
    yield* pass.tell({ kind: 'threshold-served', at: pass.now(), threshold, resource });
  }
  const first = mayEvict && !pass.hasChosen ? yield* writerToGoFirst(pass, pressed) : null;
  if (first !== null) {
    const room = roomForStop(pressed, pass.state);
    if (room !== null) yield* collect(pass, room);
    if (!pass.abort.aborted) yield* evict(pass, pressed, first);
    return;
  }
  const outcome = yield* collect(pass, pressed);
  if (outcome === 'reached' || outcome === 'aborted' || pass.abort.aborted) return;
  // Without a runtime nobody can be evicted either, and what it keeps will be there when it is back.
  if (outcome === 'runtime-lost' && policy.eviction.failedCollection === 'ends-serving') {
    return yield* helpless(pass, pressed, NO_RUNTIME);
  }
  if (policy.eviction.looksAgain === 'after-collecting-aside') {
    if ((await hasRelieved(pass, pressed)) || !mayEvict || pass.hasChosen) return;
    // Where the layout was refused there is no ranking for any signal.
    if (pass.state.layoutQuirk !== 'refused') yield* evict(pass, pressed);
    return;
  }
  // Look again just before: collecting took its time, and the world may have recovered.
  yield* pass.look();
  if (isRelieved(pressed, pass.state.observations, pass.settings) || !mayEvict || pass.hasChosen) return;
  yield* evict(pass, pressed);
}

/** The kubelet's look after collecting: numbers that cannot be read again are no relief, nor is it when nothing can be collected. */
async function hasRelieved(pass: Pass, pressed: Pressed): Promise<boolean> {
  if (stepsFor(pass, pressed).length === 0) return false;
  const observations = await pass.lookAside();
  return observations !== null && isRelieved(pressed, observations, pass.settings);
}

/** The collectors that help; a layout that was refused has none. */
function stepsFor(pass: Pass, { threshold }: Pressed): readonly NodeReclaimFunc[] {
  if (pass.state.layoutQuirk === 'refused') return [];
  const { containerGC, imageGC } = pass.deps;
  const functions = buildSignalToNodeReclaimFuncs(imageGC, containerGC, pass.layout, pass.settings.policy);
  return functions.get(threshold.signal) ?? [];
}

/** Runs the collectors that help, in order, until the goals are measured. */
async function* collect(pass: Pass, pressed: Pressed): AsyncGenerator<EvictionEvent, ReclaimOutcome> {
  const steps = stepsFor(pass, pressed);
  if (steps.length === 0) return 'exhausted';
  const judgesNumbersAlone = pass.settings.policy.eviction.failedCollection === 'only-numbers-judge';
  const run = pass.runFor(pressed);
  const availableBefore = await run.look();
  const began = pass.now();
  const { resource } = SIGNALS[pressed.threshold.signal];
  // A collection that found nothing the last time and finds nothing now is no news: told only when something is removed.
  const opening: EvictionEvent = {
    kind: 'reclaim-started',
    at: began,
    threshold: pressed.threshold,
    resource,
    goals: pressed.goals,
    available: availableBefore,
    steps: pressed.steps,
  };
  let isTold = false;
  let result: StepResult = nothingRemoved('exhausted');
  for (const step of steps) {
    const stepRun = step(run);
    for (;;) {
      const next = await stepRun.next();
      if (next.done === true) {
        result = addResults(result, next.value);
        break;
      }
      if (!isTold) yield* pass.tell(opening);
      isTold = true;
      yield* pass.tell(next.value);
    }
    // That one collector's removals brought nothing says nothing of the next one's.
    if (result.outcome === 'aborted') break;
    if (result.outcome !== 'exhausted' && result.outcome !== 'no-effect' && !judgesNumbersAlone) break;
  }
  // Nobody is chosen while freed space is still coming back.
  const settled = await waitForLateSpace(await run.look(), run);
  if (isReached(run, settled)) result = { ...result, outcome: 'reached' };
  if (isTold) {
    yield* pass.tell({
      kind: 'reclaim-finished',
      at: pass.now(),
      threshold: pressed.threshold,
      outcome: result.outcome,
      goals: pressed.goals,
      availableBefore,
      availableAfter: settled,
      claimed: result.claimed,
      removed: result.removed,
      took: elapsed(began, pass.now()),
    });
  }
  return result.outcome;
}
