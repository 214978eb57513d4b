import type { EvictionSettings } from '../eviction/assess.js';
import type { Pressed } from '../eviction/decide.js';
import type { Availability, EvictionEvent, Goal } from '../eviction/event.js';
import { evolve } from '../eviction/evolve.js';
import type { LayoutQuirk } from '../eviction/kubelet-quirks.js';
import { deviceUnder, type FsLayout } from '../eviction/layout.js';
import { lookDoubts } from '../eviction/look-doubts.js';
import type { MemoryScope, MemoryUse } from '../eviction/memory-notifier.js';
import { blindnessOf, type Observations } from '../eviction/observe.js';
import type { PodStats } from '../eviction/pod-stats.js';
import type { Standing } from '../eviction/rank.js';
import { type FilesystemName, SIGNALS, type Signal } from '../eviction/signal.js';
import type { EvictionState } from '../eviction/state.js';
import { transitions } from '../eviction/transitions.js';
import type { PodUsage } from '../eviction/usage.js';
import type { PodProtection } from '../eviction/victim.js';
import type { Warning } from '../eviction/warning.js';
import type { Clock } from '../ports/clock.js';
import type { KillPod } from '../ports/kill.js';
import type { PodRecord, PodsPort } from '../ports/pods.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { Ballast } from '../reclaim/ballast.js';
import type { ContainerGC } from '../reclaim/container-gc.js';
import type { ImageGC } from '../reclaim/image-gc.js';
import type { LateSpace } from '../reclaim/late-space.js';
import type { Pace } from '../reclaim/pace.js';
import type { PodMeter } from '../reclaim/pod-meter.js';
import { messageOf } from '../reclaim/removal.js';
import type { ReclaimRun } from '../reclaim/run.js';
import type { WarningDeps } from '../reclaim/told-warnings.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import { releaseFor } from './keep-ballast.js';
import type { Kills } from './kills.js';
import type { Looker, NodeLook } from './look.js';
import { newsOf } from './look-news.js';
import type { StateKeeper } from './state-keeper.js';

/** Measures, now, what pods keep on disks, for the limits that they have of their own. Null = cannot be told. */
export interface StorageLimits {
  measure(pods: readonly PodRecord[], abort: AbortSignal): Promise<ReadonlyMap<string, PodStats | null>>;
}

/** One that has the kernel watch memory for a threshold. */
export interface Notifier {
  /** For the log, such as `hard memory threshold`. */
  readonly description: string;
  /** Sets the watch anew from these numbers. Throws when it cannot. */
  update(use: Readonly<Record<MemoryScope, MemoryUse>>): void;
}

/** Asks whose the space is. See `SpaceQuestions`. */
export interface SpaceAsker {
  ask(pass: Pass, pressed: Pressed, ranking: SpaceHolders): AsyncGenerator<EvictionEvent, void>;
  over(pass: Pass): void;
}

/** The ranked pods, as far as they hold space. */
export interface SpaceHolders {
  readonly standings: readonly Standing[];
  readonly pods: ReadonlyMap<string, PodRecord>;
}

/** What a pass works with. */
export interface CycleDeps {
  readonly clock: Clock;
  readonly looker: Looker;
  readonly runtime: RuntimePort;
  readonly pods: PodsPort;
  readonly containerGC: ContainerGC;
  readonly imageGC: ImageGC;
  readonly killPod: KillPod;
  /** Measures what pods use of a signal's filesystem, now, source by source; one that is missing cannot be told. */
  measurePods(
    pods: readonly PodRecord[],
    signal: Signal,
    layout: FsLayout,
    abort: AbortSignal,
  ): Promise<ReadonlyMap<string, PodUsage>>;
  /** Tells who fills a disk, given what `measurePods` has just found; absent = nobody can say of anybody. */
  readonly meter?: Pick<PodMeter, 'writes' | 'watch' | 'prime'>;
  /** The kills that were sent and are not over: they outlive a pass. */
  readonly kills: Kills;
  /** What removals have freed and is still coming back: it outlives a pass. */
  readonly late: LateSpace;
  /** Slows removals down while disks or the runtime suffer; absent or null = nothing does. */
  readonly pace?: Pace | null;
  /** The settings in force under a layout, containerfs thresholds derived. */
  settingsFor(layout: FsLayout, quirk?: LayoutQuirk | null): EvictionSettings;
  /** Space kept on the disks only to be given up when they are full; absent or null = none. */
  readonly ballast?: Ballast | null;
  /** Measures pods against the limits of their own; absent or null = those are not enforced. */
  readonly storageLimits?: StorageLimits | null;
  /** Those who have the kernel watch memory; absent = none. */
  readonly notifiers?: readonly Notifier[];
  /** Keeps the state over the end of the process; absent = nothing does. */
  readonly keeper?: StateKeeper;
  /** Whether it is a pass by itself and not one of ten a second: what these do from time to time is not put off. */
  readonly isSingle?: boolean;
  /** Which states were said to last, and what is said at the end of a pass; absent = in the kubelet profile. */
  readonly warnings?: WarningDeps;
  /** Asks whose the space is when pods would have to go; absent = in the kubelet profile. */
  readonly space?: SpaceAsker;
  readonly protectedNamespaces: readonly string[];
  /** Priorities and the annotation that keep pods as well; absent = none do. */
  readonly protectedPods?: PodProtection;
  /** Cap on a pod's own grace when evicted softly; null = none. */
  readonly maxPodGrace: Milliseconds | null;
  /** The same as it was configured, in seconds, where a negative one has a meaning; absent = as above. */
  readonly maxPodGraceSeconds?: number | null;
  /** Why nobody is evicted here; null = eviction is on. */
  evictionOff(): string | null;
}

/** How the pass acts: for real, or by saying what it would do. */
export type CycleMode = 'act' | 'dry-run';

/** Where a runtime lies on its disk before it has said so: nothing is decided from it, it only gives thresholds their places. */
export const LAYOUT_UNTIL_TOLD: FsLayout = 'one-disk';

/** The kubelet's pause between two updates of its memory notifiers (`notifierRefreshInterval`); an update is due beyond it. */
const NOTIFY_AT_MOST_EVERY = milliseconds(10_000);

/** One pass while it goes on: the state that its events have made so far, and what its parts share. */
export class Pass {
  state: EvictionState;
  /** Whether this pass has chosen a pod: one at a time goes, whatever number of devices is short. */
  hasChosen = false;
  /** The state that the last look was judged from. */
  judgedFrom: EvictionState;
  readonly deps: CycleDeps;
  readonly abort: AbortSignal;

  constructor(deps: CycleDeps, state: EvictionState, abort: AbortSignal) {
    this.deps = deps;
    this.state = state;
    this.judgedFrom = state;
    this.abort = abort;
  }

  get layout(): FsLayout {
    return this.state.layout ?? LAYOUT_UNTIL_TOLD;
  }

  get settings(): EvictionSettings {
    return this.deps.settingsFor(this.layout, this.state.layoutQuirk);
  }

  now(): Instant {
    return this.deps.clock.now();
  }

  /** Looks, folds what was seen into the state, and tells what changed. Answers false when the pass must end with that. */
  async *look(): AsyncGenerator<EvictionEvent, boolean> {
    const seen = await this.deps.looker.look();
    const at = this.now();
    for (const { path, used } of this.#newFallbacks(seen)) {
      yield* this.tell({ kind: 'image-path-fallback', at, path, used });
    }
    if (!(yield* this.#takeLayout(seen, at))) return false;
    // Before anything is judged, and after the layout, which says what the thresholds are.
    if (this.deps.keeper !== undefined) yield* this.folding(this.deps.keeper.recall(this.settings.thresholds));
    const before = this.state;
    const blindness = blindnessOf(seen.sight, this.settings.policy);
    if (blindness !== null) {
      yield* this.tell({ kind: 'look-failed', at, message: blindness });
      return false;
    }
    yield* this.#notify(seen, at);
    this.judgedFrom = this.state;
    yield* this.tell({ kind: 'observed', at, sight: seen.sight, layout: this.layout });
    const changes = transitions(before, this.state, seen.sight, at, this.settings);
    yield* this.tellAll(this.deps.warnings === undefined ? changes : newsOf(changes, seen.sight, this));
    for (const warning of this.#doubts(seen)) yield* this.tell({ kind: 'warning', at, warning });
    return true;
  }

  /** The paths that do not exist, as far as that is news. */
  #newFallbacks({ fallbacks }: NodeLook): NodeLook['fallbacks'] {
    const { warnings } = this.deps;
    if (warnings === undefined) return fallbacks;
    // Images and layers may be told to lie at one path.
    const paths = new Map(fallbacks.map((each) => [`${each.path} ${each.used}`, each]));
    const news = warnings.notices.last('IMAGEFS_PATH_FALLBACK', [...paths.keys()]);
    return news.flatMap((key) => paths.get(key) ?? []);
  }

  /** What is doubtful about the thresholds, said once for good. */
  #doubts({ sight }: NodeLook): readonly Warning[] {
    const { warnings } = this.deps;
    if (warnings === undefined || this.state.layout === null) return [];
    const doubts = lookDoubts(sight, this.layout, this.settings);
    return doubts
      .filter(({ key, warning }) => warnings.notices.beginsForGood(`${warning.code} ${key}`))
      .map(({ warning }) => warning);
  }

  /** What a look sees that moves nothing; null when it counts as none. */
  async lookAside(): Promise<Observations | null> {
    const { sight } = await this.deps.looker.look();
    return blindnessOf(sight, this.settings.policy) === null ? sight.observations : null;
  }

  /** Takes over the layout that a look told, as far as the policy wants; false when the pass must end. */
  *#takeLayout(seen: NodeLook, at: Instant): Generator<EvictionEvent, boolean> {
    const { layout: before, layoutQuirk } = this.state;
    const { eviction } = this.settings.policy;
    if (before !== null && eviction.layout === 'kept-for-life') return true;
    if (seen.layout === null) {
      if (seen.problem !== null) yield* this.tell({ kind: 'layout-unknown', at, message: seen.problem, kept: before });
      return before !== null || eviction.unknownLayout === 'taken-for-one-disk';
    }
    const quirk = seen.quirk ?? null;
    if (seen.layout === before && quirk === layoutQuirk) return true;
    const change = { kind: 'layout-changed', at, from: before, to: seen.layout } as const;
    yield* this.tell(quirk === null ? change : { ...change, quirk });
    if (quirk !== 'refused') return true;
    yield* this.tell({ kind: 'layout-refused', at, layout: seen.layout });
    return false;
  }

  /** Gives those who have the kernel watch memory new numbers, not too often; one that fails is named and stops nobody. */
  *#notify({ memoryUse }: NodeLook, at: Instant): Generator<EvictionEvent, void> {
    const { notifiers = [] } = this.deps;
    const { notifiedAt } = this.state;
    if (memoryUse === undefined || notifiers.length === 0) return;
    if (notifiedAt !== null && elapsed(notifiedAt, at) <= NOTIFY_AT_MOST_EVERY) return;
    yield* this.tell({ kind: 'notifiers-updated', at });
    for (const notifier of notifiers) {
      try {
        notifier.update(memoryUse);
      } catch (error) {
        yield* this.tell({ kind: 'notifier-failed', at, notifier: notifier.description, message: messageOf(error) });
      }
    }
  }

  /** A collection for what presses: its goals, and how to look whether they are reached. */
  runFor({ threshold, thresholds, goals }: Pressed): ReclaimRun {
    const isHard = thresholds.some((each) => each.urgency.kind === 'hard');
    return this.runOn(SIGNALS[threshold.signal].filesystem, goals, isHard);
  }

  /** A collection on a filesystem; null = for memory or processes, which no look between removals shows. */
  runOn(filesystem: FilesystemName | null, goals: readonly Goal[], isHard: boolean): ReclaimRun {
    const { looker, clock, late, pace = null } = this.deps;
    return {
      goals,
      isHard,
      policy: this.settings.policy,
      clock,
      late: this.#holdsLayers(filesystem) ? late : late.elsewhere(),
      ...(pace === null ? {} : { pace }),
      releaseBallast: () => releaseFor(this, filesystem, 'removal-failed'),
      signal: this.abort,
      logsHere: filesystem !== null && deviceUnder(filesystem, this.layout) === deviceUnder('nodefs', this.layout),
      look: async () => (filesystem === null ? {} : availabilityOf(filesystem, goals, await looker.lookAt(filesystem))),
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
    this.deps.keeper?.note(this.state, this.settings.thresholds);
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
function availabilityOf(
  filesystem: FilesystemName,
  goals: readonly Goal[],
  look: Awaited<ReturnType<Looker['lookAt']>>,
): Availability {
  if (look.kind !== 'reading' || look.capacity === 0) return {};
  const inodes = look.inodes?.free;
  const signals = new Set<Signal>(goals.map((goal) => goal.signal));
  signals.add(`${filesystem}.available`);
  signals.add(`${filesystem}.inodesFree`);
  return Object.fromEntries(
    [...signals].flatMap((signal) => {
      const amount = SIGNALS[signal].unit === 'bytes' ? look.available : inodes;
      return amount === undefined ? [] : [[signal, amount]];
    }),
  );
}
