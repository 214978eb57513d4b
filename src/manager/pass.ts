import type { EvictionSettings } from '../eviction/assess.js';
import type { Pressed } from '../eviction/decide.js';
import type { Availability, EvictionEvent } from '../eviction/event.js';
import { evolve } from '../eviction/evolve.js';
import { deviceUnder, type FsLayout } from '../eviction/layout.js';
import type { Observations } from '../eviction/observe.js';
import { type FilesystemName, SIGNALS, type Signal } from '../eviction/signal.js';
import type { EvictionState } from '../eviction/state.js';
import { transitions } from '../eviction/transitions.js';
import type { Clock } from '../ports/clock.js';
import type { KillPod } from '../ports/kill.js';
import type { PodRecord, PodsPort } from '../ports/pods.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { ContainerGC } from '../reclaim/container-gc.js';
import type { ImageGC } from '../reclaim/image-gc.js';
import type { LateSpace } from '../reclaim/late-space.js';
import type { ReclaimRun } from '../reclaim/run.js';
import type { Instant, Milliseconds } from '../units/units.js';
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
  /** What removals have freed and is still coming back: it outlives a pass. */
  readonly late: LateSpace;
  /** The settings in force under a layout, containerfs thresholds derived. */
  settingsFor(layout: FsLayout): EvictionSettings;
  readonly protectedNamespaces: readonly string[];
  /** Cap on a pod's own grace when evicted softly; null = none. */
  readonly maxPodGrace: Milliseconds | null;
  /** Why nobody is evicted here; null = eviction is on. */
  evictionOff(): string | null;
}

/** Where a runtime lies on its disk before it has said so: nothing is decided from it, it only gives thresholds their places. */
export const LAYOUT_UNTIL_TOLD: FsLayout = 'one-disk';

/** One pass while it goes on: the state that its events have made so far, and what its parts share. */
export class Pass {
  state: EvictionState;
  /** Whether this pass has chosen a pod: one at a time goes, whatever number of devices is short. */
  hasChosen = false;
  readonly deps: CycleDeps;
  readonly abort: AbortSignal;

  constructor(deps: CycleDeps, state: EvictionState, abort: AbortSignal) {
    this.deps = deps;
    this.state = state;
    this.abort = abort;
  }

  get layout(): FsLayout {
    return this.state.layout ?? LAYOUT_UNTIL_TOLD;
  }

  get settings(): EvictionSettings {
    return this.deps.settingsFor(this.layout);
  }

  now(): Instant {
    return this.deps.clock.now();
  }

  /** Looks, folds what was seen into the state, and tells what changed. */
  async *look(): AsyncGenerator<EvictionEvent, void> {
    const before = this.state;
    const seen = await this.deps.looker.look();
    const at = this.now();
    for (const { path, used } of seen.fallbacks) yield* this.tell({ kind: 'image-path-fallback', at, path, used });
    if (seen.layout === null) {
      if (seen.problem !== null)
        yield* this.tell({ kind: 'layout-unknown', at, message: seen.problem, kept: before.layout });
    } else if (seen.layout !== before.layout) {
      yield* this.tell({ kind: 'layout-changed', at, from: before.layout, to: seen.layout });
    }
    yield* this.tell({ kind: 'observed', at, sight: seen.sight, layout: this.layout });
    yield* this.tellAll(transitions(before, this.state, seen.sight, at, this.settings));
  }

  /** A collection for what presses: its goals, and how to look whether they are reached. */
  runFor(pressed: Pressed): ReclaimRun {
    const { looker, clock, late } = this.deps;
    const { filesystem } = SIGNALS[pressed.threshold.signal];
    return {
      goals: pressed.goals,
      isHard: pressed.thresholds.some((each) => each.urgency.kind === 'hard'),
      policy: this.settings.policy,
      clock,
      late: this.#holdsLayers(filesystem) ? late : late.elsewhere(),
      signal: this.abort,
      look: async () => (filesystem === null ? {} : availabilityOf(pressed, await looker.lookAt(filesystem))),
    };
  }

  /** Whether the writable layers, whose space comes late, lie on the disk of this filesystem. */
  #holdsLayers(filesystem: FilesystemName | null): boolean {
    return filesystem !== null && deviceUnder(filesystem, this.layout) === deviceUnder('containerfs', this.layout);
  }

  /** How much of a signal is missing to the strictest target among the thresholds that press. */
  missing(signal: Signal, observations: Observations): number {
    const seen = observations.get(signal);
    if (seen === undefined) return 0;
    const { thresholds, lines } = this.settings;
    const targets = thresholds
      .filter((each) => each.signal === signal && this.state.pressing.has(each.id))
      .map((each) => lines.lineOf(each, seen.capacity).target);
    return Math.max(0, ...targets.map((target) => target - seen.available));
  }

  *tell(event: EvictionEvent): Generator<EvictionEvent, void> {
    this.state = evolve(this.state, event, this.settings);
    yield event;
  }

  *tellAll(events: Iterable<EvictionEvent>): Generator<EvictionEvent, void> {
    for (const event of events) yield* this.tell(event);
  }

  async *folding<Result>(events: AsyncGenerator<EvictionEvent, Result>): AsyncGenerator<EvictionEvent, Result> {
    for (;;) {
      const next = await events.next();
      if (next.done === true) return next.value;
      yield* this.tell(next.value);
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
