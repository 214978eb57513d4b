import { defer, from, type Observable, Subject } from 'rxjs';
import { type AdmissionAnswer, admit, admitUnseen, type Newcomer } from '../eviction/admission.js';
import type { EvictionSettings } from '../eviction/assess.js';
import { type CadenceSettings, pauseBeforeNextLook } from '../eviction/cadence.js';
import { deriveContainerfs, thresholdsOfFirstPass } from '../eviction/containerfs.js';
import { LineBook } from '../eviction/evaluate.js';
import type { EvictionEvent } from '../eviction/event.js';
import type { Policy } from '../eviction/policy.js';
import { Refusals } from '../eviction/refusals.js';
import { type EvictionState, INITIAL_STATE } from '../eviction/state.js';
import type { Threshold } from '../eviction/threshold.js';
import type { RuntimeEvent } from '../ports/runtime.js';
import { LateSpace } from '../reclaim/late-space.js';
import { withPassWarnings } from '../reclaim/told-warnings.js';
import { type Milliseconds, milliseconds } from '../units/units.js';
import { type CycleMode, followOnly, runPass } from './cycle.js';
import { Kills } from './kills.js';
import { type CycleDeps, LAYOUT_UNTIL_TOLD, Pass } from './pass.js';
import { createPipeline } from './pipeline.js';
import { SpaceQuestions } from './space-questions.js';
import { watchRuntime } from './watch-runtime.js';

/** What a manager works with: the world, and what the operator wants. */
export interface ManagerDeps extends Omit<CycleDeps, 'settingsFor' | 'late' | 'kills'> {
  readonly thresholds: readonly Threshold[];
  readonly transitionPeriod: Milliseconds;
  readonly policy: Policy;
  readonly cadence: CadenceSettings;
  /** Whether the runtime's events are listened to; absent = they are. */
  readonly usesEvents?: boolean;
  /** Hears each of them. */
  readonly heard?: (event: RuntimeEvent) => void;
  /** Garbage is collected ahead of any line when a filesystem will be full within this; null or absent = never. */
  readonly fullWithin?: Milliseconds | null;
}

/** The eviction manager: one entrance, one pass at a time. */
export interface Manager {
  readonly events$: Observable<EvictionEvent>;
  /** What is told of questions from outside, such as refused pods; part of `events$` too. */
  readonly asked$: Observable<EvictionEvent>;
  readonly state: EvictionState;
  /** Asks for a pass now. */
  wake(): void;
  /** Ends the stream; what is under way is aborted. */
  stop(): void;
  /** Whether a pod may start under the conditions that are reported now. */
  admit(pod: Newcomer): AdmissionAnswer;
  /** One look by itself, outside the stream: afterwards `state` and `admit` tell what it saw. */
  look(): AsyncGenerator<EvictionEvent, void>;
  /** One pass by itself, outside the stream: for a dry run or a single shot. */
  once(mode: CycleMode): AsyncGenerator<EvictionEvent, void>;
  /** Stays with the pods that were told to end until they have, after a single shot. */
  settle(): AsyncGenerator<EvictionEvent, void>;
}

/** How often a pod that ends is looked at when nothing else is to be done. */
const SETTLE_EVERY = milliseconds(250);

/** Makes a manager, without a past unless its keeper has one. Nothing runs until `events$` is subscribed to. */
export function createManager(deps: ManagerDeps): Manager {
  const settingsFor = settingsByLayout(deps);
  const abort = new AbortController();
  const late = new LateSpace();
  const kills = new Kills();
  const space = deps.warnings === undefined ? {} : { space: new SpaceQuestions() };
  let state = INITIAL_STATE;

  async function* pass(mode: CycleMode, isSingle: boolean): AsyncGenerator<EvictionEvent, void> {
    const story = runPass({ ...deps, ...space, settingsFor, late, kills, isSingle }, state, mode, abort.signal);
    state = yield* deps.warnings === undefined ? story : withPassWarnings(deps.warnings, story);
  }

  async function* settle(): AsyncGenerator<EvictionEvent, void> {
    while (kills.ongoing.some((kill) => !kill.isTold) && !abort.signal.aborted) {
      const story = followOnly({ ...deps, settingsFor, late, kills }, state, abort.signal);
      state = yield* deps.warnings === undefined ? story : withPassWarnings(deps.warnings, story);
      await deps.clock.sleep(SETTLE_EVERY, abort.signal);
    }
  }

  async function* look(): AsyncGenerator<EvictionEvent, void> {
    const sole = new Pass({ ...deps, settingsFor, late, kills }, state, abort.signal);
    yield* sole.look();
    state = sole.state;
  }

  const refusals = new Refusals();
  const asked$ = new Subject<EvictionEvent>();

  function tellRefusal(pod: Newcomer, answer: AdmissionAnswer): void {
    if (answer.admitted || deps.policy.eviction.announces !== 'deeds') return;
    const at = deps.clock.now();
    const warning = refusals.refused(pod.owner ?? 'pods without an owner', answer.conditions, at);
    if (warning !== null) asked$.next({ kind: 'warning', at, warning });
  }

  const pipeline = createPipeline({
    pass: () => pass('act', false),
    pause: () =>
      pauseBeforeNextLook(state, settingsFor(state.layout ?? LAYOUT_UNTIL_TOLD, state.layoutQuirk), deps.cadence),
    beside: [defer(() => from(watchRuntime(deps, abort.signal))), asked$],
  });
  return {
    events$: pipeline.events$,
    get state() {
      return state;
    },
    wake: () => {
      pipeline.wake();
    },
    stop() {
      abort.abort();
      pipeline.stop();
    },
    asked$,
    admit(pod) {
      const isUnseen = state.lookedAt === null && deps.policy.eviction.beforeFirstLook === 'not-yet';
      const answer = isUnseen ? admitUnseen(state.conditions) : admit(pod, state.conditions);
      tellRefusal(pod, answer);
      return answer;
    },
    look,
    once: (mode) => pass(mode, true),
    settle,
  };
}

/** The settings under each layout, made once: containerfs takes its thresholds from the disk it shares. */
export function settingsByLayout(
  deps: Pick<ManagerDeps, 'thresholds' | 'transitionPeriod' | 'policy' | 'fullWithin'>,
): CycleDeps['settingsFor'] {
  const made = new Map<string, EvictionSettings>();
  return (layout, quirk = null) => {
    const key = `${layout} ${quirk}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    // Under a quirk of the kubelet nothing is made for containerfs.
    const derived =
      quirk === null
        ? deriveContainerfs(deps.thresholds, layout)
        : { thresholds: deps.thresholds, appended: [], replaced: [] };
    const settings: EvictionSettings = {
      thresholds: derived.thresholds,
      ofFirstPass: quirk === null ? thresholdsOfFirstPass(deps.thresholds, derived) : deps.thresholds,
      transitionPeriod: deps.transitionPeriod,
      policy: deps.policy,
      lines: new LineBook(),
      fullWithin: deps.fullWithin ?? null,
    };
    made.set(key, settings);
    return settings;
  };
}
