import { assess, type EvictionSettings } from '../eviction/assess.js';
import { decide, isEvictionOver, isRelieved, type Pressed } from '../eviction/decide.js';
import type { Availability, EvictionEvent, ReclaimOutcome } from '../eviction/event.js';
import { evolve } from '../eviction/evolve.js';
import type { FsLayout } from '../eviction/layout.js';
import { evictionMessage } from '../eviction/message.js';
import type { Observation, Observations } from '../eviction/observe.js';
import { type Candidate, rankPods, type Standing } from '../eviction/rank.js';
import { SIGNALS, type Signal } from '../eviction/signal.js';
import type { EvictionState } from '../eviction/state.js';
import { transitions } from '../eviction/transitions.js';
import { chooseVictim, evictionGrace, protectionOf } from '../eviction/victim.js';
import type { Clock } from '../ports/clock.js';
import type { KillPod } from '../ports/kill.js';
import type { PodRecord, PodsPort } from '../ports/pods.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { ContainerGC } from '../reclaim/container-gc.js';
import { type ImageGC, imageSubject } from '../reclaim/image-gc.js';
import { LateSpace, SPACE_COMES_WITHIN } from '../reclaim/late-space.js';
import { buildSignalToNodeReclaimFuncs } from '../reclaim/node-reclaim-funcs.js';
import { messageOf, waitForLateSpace } from '../reclaim/removal.js';
import { addResults, isReached, nothingRemoved, type ReclaimRun, type StepResult } from '../reclaim/run.js';
import { settle } from '../reclaim/settle.js';
import { elapsed, later, type Milliseconds, milliseconds } from '../units/units.js';
import type { Looker } from './look.js';

/** What a pass works with. */
export interface CycleDeps {
  readonly clock: Clock;
  readonly looker: Looker;
  readonly runtime: RuntimePort;
  readonly pods: PodsPort;
  readonly containerGC: ContainerGC;
  readonly imageGC: ImageGC;
  readonly killPod: KillPod;
  /** Measures what pods use of a signal's filesystem, now; null = cannot be told. */
  measurePods(
    pods: readonly PodRecord[],
    signal: Signal,
    layout: FsLayout,
    abort: AbortSignal,
  ): Promise<ReadonlyMap<string, number | null>>;
  /** The settings in force under a layout, containerfs thresholds derived. */
  settingsFor(layout: FsLayout): EvictionSettings;
  readonly protectedNamespaces: readonly string[];
  /** Cap on a pod's own grace when evicted softly; null = none. */
  readonly maxPodGrace: Milliseconds | null;
  /** Why nobody is evicted here; null = eviction is on. */
  evictionOff(): string | null;
}

/** How the pass acts: for real, or by saying what it would do. */
export type CycleMode = 'act' | 'dry-run';

/** Where a runtime lies on its disk before it has said so: nothing is decided from it, it only gives thresholds their places. */
const LAYOUT_UNTIL_TOLD: FsLayout = 'one-disk';
/** How long after a pod's grace its space is still waited for; the kubelet's wait for cleanup. */
const CLEANUP_WAIT = milliseconds(30_000);
/** An eviction that brings less than this share of what was expected ends the series. */
const WORTHWHILE_SHARE = 0.1;

/**
 * One pass: look, decide, collect, look again, evict. Yields the story; returns the state after it. Never rejects for what
 * the outside does; an abort ends it between two steps. Mirrors the kubelet's `synchronize`.
 */
export async function* runPass(
  deps: CycleDeps,
  before: EvictionState,
  mode: CycleMode,
  abort: AbortSignal,
): AsyncGenerator<EvictionEvent, EvictionState> {
  const pass = new Pass(deps, before, mode, abort);
  yield* pass.run();
  return pass.state;
}

class Pass {
  state: EvictionState;
  readonly #deps: CycleDeps;
  readonly #mode: CycleMode;
  readonly #abort: AbortSignal;

  constructor(deps: CycleDeps, state: EvictionState, mode: CycleMode, abort: AbortSignal) {
    this.#deps = deps;
    this.state = state;
    this.#mode = mode;
    this.#abort = abort;
  }

  get #layout(): FsLayout {
    return this.state.layout ?? LAYOUT_UNTIL_TOLD;
  }

  get #settings(): EvictionSettings {
    return this.#deps.settingsFor(this.#layout);
  }

  async *run(): AsyncGenerator<EvictionEvent, void> {
    const before = this.state;
    yield* this.#look();
    const assessment = assess(before, this.state.observations, this.state.lookedAt ?? this.#now(), this.#settings);
    yield* this.#measureEviction(assessment.fresh.length === 0);
    const decision = decide(this.state, assessment, this.state.observations, this.#layout, this.#settings);
    if (decision.kind === 'rest') return;
    for (const pressed of decision.pressed) {
      if (this.#abort.aborted) return;
      if (this.#mode === 'dry-run') yield* this.#tellPlan(pressed);
      else yield* this.#serve(pressed, decision.kind === 'serve');
    }
  }

  /** Looks, folds what was seen into the state, and tells what changed. */
  async *#look(): AsyncGenerator<EvictionEvent, void> {
    const before = this.state;
    const seen = await this.#deps.looker.look();
    const at = this.#now();
    for (const { path, used } of seen.fallbacks) yield* this.#tell({ kind: 'image-path-fallback', at, path, used });
    if (seen.layout === null) {
      if (seen.problem !== null)
        yield* this.#tell({ kind: 'layout-unknown', at, message: seen.problem, kept: before.layout });
    } else if (seen.layout !== before.layout) {
      yield* this.#tell({ kind: 'layout-changed', at, from: before.layout, to: seen.layout });
    }
    yield* this.#tell({ kind: 'observed', at, sight: seen.sight, layout: this.#layout });
    yield* this.#tellAll(transitions(before, this.state, seen.sight, at, this.#settings));
  }

  /** When the effect of the last eviction is known, or waited for long enough, says what it brought. */
  async *#measureEviction(nothingIsDue: boolean): AsyncGenerator<EvictionEvent, void> {
    const underWay = this.state.evictionUnderWay;
    const now = this.#now();
    if (underWay === null) return;
    if (!nothingIsDue && !isEvictionOver(this.state, this.state.observations, now)) return;
    const seen = this.state.observations.get(underWay.signal);
    if (seen === undefined) return;
    const brought = seen.available - underWay.availableBefore;
    const isFutile = underWay.expected !== null && brought < underWay.expected * WORTHWHILE_SHARE;
    yield* this.#tell({
      kind: 'eviction-measured',
      at: now,
      pod: { uid: underWay.podUid, label: underWay.podLabel },
      signal: underWay.signal,
      expected: underWay.expected,
      availableBefore: underWay.availableBefore,
      availableAfter: seen.available,
      missing: this.#missing(underWay.signal, this.state.observations),
      endsSeries: !nothingIsDue && isFutile && this.#settings.policy.eviction.futileEviction === 'ends-series',
      took: elapsed(underWay.killedAt, now),
    });
  }

  async *#serve(pressed: Pressed, mayEvict: boolean): AsyncGenerator<EvictionEvent, void> {
    const outcome = yield* this.#collect(pressed);
    // Without a runtime nobody can be evicted either, and what it keeps will be there when it is back.
    if (outcome === 'reached' || outcome === 'runtime-lost' || outcome === 'aborted' || this.#abort.aborted) return;
    // Look again just before: collecting took its time, and the world may have recovered.
    yield* this.#look();
    if (isRelieved(pressed, this.state.observations, this.#settings) || !mayEvict) return;
    yield* this.#evict(pressed);
  }

  /** Runs the collectors that help, in order, until the goals are measured. */
  async *#collect(pressed: Pressed): AsyncGenerator<EvictionEvent, ReclaimOutcome> {
    const { containerGC, imageGC } = this.#deps;
    const functions = buildSignalToNodeReclaimFuncs(imageGC, containerGC, this.#layout, this.#settings.policy);
    const steps = functions.get(pressed.threshold.signal) ?? [];
    if (steps.length === 0) return 'exhausted';
    const run = this.#runFor(pressed);
    const availableBefore = await run.look();
    const began = this.#now();
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
        if (!isTold) yield* this.#tell(opening);
        isTold = true;
        yield* this.#tell(next.value);
      }
      if (result.outcome !== 'exhausted') break;
    }
    // Nobody is chosen while freed space is still coming back.
    const settled = await waitForLateSpace(await run.look(), run);
    if (isReached(run, settled)) result = { ...result, outcome: 'reached' };
    if (isTold) {
      yield* this.#tell({
        kind: 'reclaim-finished',
        at: this.#now(),
        threshold: pressed.threshold,
        outcome: result.outcome,
        goals: pressed.goals,
        availableBefore,
        availableAfter: settled,
        claimed: result.claimed,
        removed: result.removed,
        took: elapsed(began, this.#now()),
      });
    }
    return result.outcome;
  }

  /** Ranks the pods, picks one, ends it, and measures what that brought. */
  async *#evict(pressed: Pressed): AsyncGenerator<EvictionEvent, void> {
    const { signal } = pressed.threshold;
    const observation = this.state.observations.get(signal);
    if (observation === undefined) return;
    const off = this.#deps.evictionOff();
    if (off !== null) return yield* this.#helpless(pressed, observation, off);
    if (this.state.seriesEnded !== null) {
      return yield* this.#helpless(
        pressed,
        observation,
        'the last eviction freed next to nothing, so no other pod goes for now',
      );
    }
    const ranked = await this.#rank(pressed).catch((error: unknown) => messageOf(error));
    if (typeof ranked === 'string') {
      yield* this.#tell({ kind: 'list-failed', at: this.#now(), what: 'the pods to choose from', message: ranked });
      return;
    }
    const { line, target } = this.#settings.lines.lineOf(pressed.threshold, observation.capacity);
    const missing = this.#missing(signal, this.state.observations);
    const victim = chooseVictim(ranked.standings, missing, this.#settings.policy);
    if (victim.kind === 'nobody') return yield* this.#helpless(pressed, observation, victim.reason);
    const pod = ranked.pods.get(victim.standing.uid);
    if (pod === undefined) return;
    const grace = evictionGrace(pressed.threshold, pod.terminationGrace, this.#deps.maxPodGrace);
    const name = { uid: pod.uid, label: victim.standing.label };
    yield* this.#tell({
      kind: 'eviction-decided',
      at: this.#now(),
      pod: name,
      threshold: pressed.threshold,
      observation,
      line,
      target,
      ranking: ranked.standings,
      grace,
      message: evictionMessage(pressed.threshold, observation, line, victim.standing, ranked.standings.length - 1),
    });
    const run = this.#runFor(pressed);
    const availableBefore = await run.look();
    const began = this.#now();
    const outcome = yield* this.#folding(this.#deps.killPod(pod, grace, this.#abort));
    const settled =
      outcome.kind === 'gone' && this.#settings.policy.gc.waitsForSpace
        ? (await settle(run, availableBefore, victim.standing.usage, SPACE_COMES_WITHIN)).available
        : await run.look();
    yield* this.#tell({
      kind: 'pod-killed',
      at: this.#now(),
      pod: name,
      signal,
      expected: victim.standing.usage,
      availableBefore: availableBefore[signal] ?? observation.available,
      availableAfter: settled[signal] ?? observation.available,
      waitUntil: later(later(began, grace), CLEANUP_WAIT),
      outcome,
      took: elapsed(began, this.#now()),
    });
  }

  /** Says once why nothing helps, and again only when the reason changes. */
  async *#helpless(pressed: Pressed, observation: Observation, reason: string): AsyncGenerator<EvictionEvent, void> {
    if (this.state.helpless === reason) return;
    yield* this.#tell({ kind: 'helpless', at: this.#now(), reason, threshold: pressed.threshold, observation });
  }

  async #rank(pressed: Pressed): Promise<{ standings: readonly Standing[]; pods: ReadonlyMap<string, PodRecord> }> {
    const { runtime, pods, protectedNamespaces } = this.#deps;
    const { signal } = pressed.threshold;
    const [containers, sandboxes] = await Promise.all([
      runtime.listContainers(this.#abort),
      runtime.listSandboxes(this.#abort),
    ]);
    const active = (await pods.list(containers, sandboxes, this.#abort)).filter((pod) => !pod.isFinished);
    const neverAgain = this.#settings.policy.eviction.toldPods === 'never-again';
    const usage = await this.#deps.measurePods(active, signal, this.#layout, this.#abort);
    const candidates = active.map(
      (pod): Candidate => ({
        uid: pod.uid,
        label: `${pod.namespace}/${pod.name}`,
        priority: pod.priority,
        usage: usage.get(pod.uid) ?? null,
        request: SIGNALS[signal].resource === 'memory' ? pod.memoryRequest : pod.storageRequest,
        protectedBy: protectionOf(
          { ...pod, isUnderWay: neverAgain && this.state.toldToEnd.has(pod.uid) },
          protectedNamespaces,
        ),
      }),
    );
    return {
      standings: rankPods(candidates, signal, this.#settings.policy),
      pods: new Map(active.map((pod) => [pod.uid, pod])),
    };
  }

  /** The dry run: what would go, in order, with the part that is only needed if the listed sizes do not come back. */
  async *#tellPlan(pressed: Pressed): AsyncGenerator<EvictionEvent, void> {
    const run = this.#runFor(pressed);
    const { containerGC, imageGC } = this.#deps;
    const available = await run.look();
    yield* this.#tell({
      kind: 'reclaim-started',
      at: this.#now(),
      threshold: pressed.threshold,
      resource: SIGNALS[pressed.threshold.signal].resource,
      goals: pressed.goals,
      available,
      steps: pressed.steps,
    });
    let left = pressed.goals.reduce((most, goal) => Math.max(most, goal.target - (available[goal.signal] ?? 0)), 0);
    try {
      const containers = pressed.steps.includes('containers') ? await containerGC.planUnusedContainers(run) : [];
      const images = pressed.steps.includes('images') ? await imageGC.planUnusedImages(run) : [];
      const subjects = [
        ...containers.map((each) => each.subject),
        ...images.flatMap(({ item, verdict }) => (verdict.kind === 'goes' ? [imageSubject(item, verdict.why)] : [])),
      ];
      for (const subject of subjects) {
        yield* this.#tell({ kind: 'would-remove', at: this.#now(), subject, onlyIfNeeded: left <= 0 });
        if (this.#settings.policy.gc.amount === 'until-target') left -= subject.claimed ?? 0;
      }
      const { standings } = await this.#rank(pressed);
      const victim = chooseVictim(standings, left, this.#settings.policy);
      if (victim.kind === 'nobody') return;
      const { standing } = victim;
      yield* this.#tell({
        kind: 'would-evict',
        at: this.#now(),
        standing,
        threshold: pressed.threshold,
        onlyIfNeeded: subjects.length > 0,
      });
    } catch (error) {
      yield* this.#tell({ kind: 'list-failed', at: this.#now(), what: 'what would go', message: messageOf(error) });
    }
  }

  #runFor(pressed: Pressed): ReclaimRun {
    const { looker, clock } = this.#deps;
    const { filesystem } = SIGNALS[pressed.threshold.signal];
    return {
      goals: pressed.goals,
      isHard: pressed.thresholds.some((each) => each.urgency.kind === 'hard'),
      policy: this.#settings.policy,
      clock,
      late: new LateSpace(),
      signal: this.#abort,
      look: async () => (filesystem === null ? {} : availabilityOf(pressed, await looker.lookAt(filesystem))),
    };
  }

  /** How much of a signal is missing to the strictest target among the thresholds that press. */
  #missing(signal: Signal, observations: Observations): number {
    const seen = observations.get(signal);
    if (seen === undefined) return 0;
    const { thresholds, lines } = this.#settings;
    const targets = thresholds
      .filter((each) => each.signal === signal && this.state.pressing.has(each.id))
      .map((each) => lines.lineOf(each, seen.capacity).target);
    return Math.max(0, ...targets.map((target) => target - seen.available));
  }

  #now() {
    return this.#deps.clock.now();
  }

  *#tell(event: EvictionEvent): Generator<EvictionEvent, void> {
    this.state = evolve(this.state, event, this.#settings);
    yield event;
  }

  *#tellAll(events: Iterable<EvictionEvent>): Generator<EvictionEvent, void> {
    for (const event of events) yield* this.#tell(event);
  }

  async *#folding<Result>(events: AsyncGenerator<EvictionEvent, Result>): AsyncGenerator<EvictionEvent, Result> {
    for (;;) {
      const next = await events.next();
      if (next.done === true) return next.value;
      yield* this.#tell(next.value);
    }
  }
}

/** Bytes and inodes of the pressed device; the signals of filesystems that share it have the same numbers. */
function availabilityOf(pressed: Pressed, look: Awaited<ReturnType<Looker['lookAt']>>): Availability {
  if (look.kind !== 'reading' || look.capacity === 0) return {};
  const { filesystem } = SIGNALS[pressed.threshold.signal];
  const inodes = look.inodes?.free;
  const signals = new Set<Signal>(pressed.goals.map((goal) => goal.signal));
  if (filesystem !== null) {
    signals.add(`${filesystem}.available`);
    signals.add(`${filesystem}.inodesFree`);
  }
  return Object.fromEntries(
    [...signals].flatMap((signal) => {
      const amount = SIGNALS[signal].unit === 'bytes' ? look.available : inodes;
      return amount === undefined ? [] : [[signal, amount]];
    }),
  );
}
