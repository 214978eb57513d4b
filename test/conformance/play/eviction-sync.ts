import * as v from 'valibot';
import { admit } from '../../../src/eviction/admission.js';
import type { EvictionEvent } from '../../../src/eviction/event.js';
import { layoutOfProbe } from '../../../src/eviction/kubelet-quirks.js';
import { observe } from '../../../src/eviction/observe.js';
import type { PathLook } from '../../../src/eviction/path-look.js';
import type { PodStats } from '../../../src/eviction/pod-stats.js';
import { usageOf } from '../../../src/eviction/pod-stats.js';
import { POLICIES } from '../../../src/eviction/policy.js';
import type { FilesystemName } from '../../../src/eviction/signal.js';
import { type EvictionState, INITIAL_STATE } from '../../../src/eviction/state.js';
import { readingsOf, type StatsSummary } from '../../../src/eviction/stats-summary.js';
import { wholeUsage } from '../../../src/eviction/usage.js';
import { runPass } from '../../../src/manager/cycle.js';
import { Kills } from '../../../src/manager/kills.js';
import type { NodeLook } from '../../../src/manager/look.js';
import { settingsByLayout } from '../../../src/manager/manager.js';
import type { CycleDeps } from '../../../src/manager/pass.js';
import { LateSpace } from '../../../src/reclaim/late-space.js';
import { nothingRemoved, type ReclaimStepRun } from '../../../src/reclaim/run.js';
import { type Instant, instant, milliseconds } from '../../../src/units/units.js';
import { FakeRuntime } from '../../fakes/fake-runtime.js';
import { emptyWorld } from '../../fakes/scenery.js';
import { compare, type Difference, type PlayFiles, playFile } from '../case.js';
import {
  AMOUNT,
  atSecond,
  EVICTION_CASE,
  LAYOUT,
  numberOf,
  SIGNAL,
  THRESHOLD,
  thresholdOf,
  type WrittenThreshold,
} from './eviction-notation.js';
import { type CasePod, casePod, newcomerOf, POD, POD_KEYS, type WrittenPod } from './eviction-pod.js';

const policy = POLICIES.kubelet;

const MEMORY = v.optional(v.strictObject({ available: v.optional(AMOUNT), workingSet: v.optional(AMOUNT) }));
/** A capacity of `2x` is twice what is available. */
const FILESYSTEM = v.optional(
  v.strictObject({
    available: v.optional(AMOUNT),
    capacity: v.optional(AMOUNT),
    inodesFree: v.optional(AMOUNT),
    inodes: v.optional(AMOUNT),
  }),
);
const STATS = v.strictObject({
  memory: MEMORY,
  podsCgroup: MEMORY,
  nodeFs: FILESYSTEM,
  imageFs: FILESYSTEM,
  containerFs: FILESYSTEM,
  rlimit: v.optional(v.strictObject({ maxPid: v.optional(AMOUNT), running: v.optional(AMOUNT) })),
});
type Stats = v.InferOutput<typeof STATS>;

const KILL = v.strictObject({
  pod: v.string(),
  gracePeriodSeconds: v.number(),
  cause: v.optional(v.string()),
  subject: v.optional(v.string()),
});
const COLLECTED = v.strictObject({ containers: v.boolean(), images: v.boolean() });
const EXPECT = v.strictObject({
  conditions: v.optional(v.record(v.string(), v.boolean()), {}),
  killed: v.optional(v.nullable(v.union([KILL, v.array(KILL)]))),
  gc: v.optional(COLLECTED),
  admit: v.optional(v.record(v.string(), v.boolean()), {}),
  error: v.optional(v.string()),
  podStatus: v.optional(
    v.strictObject({
      phase: v.string(),
      reason: v.string(),
      disruptionCondition: v.nullable(v.strictObject({ type: v.string(), status: v.string(), reason: v.string() })),
    }),
  ),
  notifierUpdates: v.optional(v.number()),
  notifierDescribed: v.optional(v.number()),
  actsOn: v.optional(v.strictObject({ signal: SIGNAL, gracePeriodSeconds: v.number() })),
  /** What upstream's random choice may also bring; here the order is total. */
  alternatives: v.optional(
    v.array(
      v.strictObject({
        killed: v.nullable(v.union([KILL, v.array(KILL)])),
        gc: COLLECTED,
        actsOn: v.optional(v.strictObject({ signal: SIGNAL, gracePeriodSeconds: v.number() })),
      }),
    ),
  ),
});
const FLAG = v.optional(v.boolean(), false);
const STEP = v.strictObject({
  advanceSeconds: v.number(),
  changePods: v.optional(v.array(v.strictObject({ ...POD_KEYS, remove: v.optional(v.literal(true)) })), []),
  addPods: v.optional(v.array(POD), []),
  stats: v.optional(STATS),
  statsTimeSeconds: v.optional(v.nullable(v.number())),
  statsAfterGc: v.optional(STATS),
  statsFail: FLAG,
  statsFailAfterGc: FLAG,
  gcFails: FLAG,
  killFails: FLAG,
  layoutProbeFails: FLAG,
  splitProbeFails: FLAG,
  notifierFails: FLAG,
  expect: EXPECT,
  why: v.optional(v.string()),
  note: v.optional(v.string()),
});
type Step = v.InferOutput<typeof STEP>;
const SCRIPT = v.strictObject({
  ...EVICTION_CASE,
  covers: v.optional(v.array(v.string())),
  layout: LAYOUT,
  features: v.optional(v.strictObject({ separateDiskGc: v.optional(v.boolean(), true) }), { separateDiskGc: true }),
  settings: v.strictObject({
    thresholds: v.array(THRESHOLD),
    maxPodGracePeriodSeconds: v.number(),
    pressureTransitionSeconds: v.number(),
    localStorageIsolation: v.boolean(),
  }),
  pods: v.array(POD),
  admitCandidates: v.optional(v.array(POD), []),
  steps: v.array(STEP),
});
type Script = v.InferOutput<typeof SCRIPT>;

/** The clock that the steps move; nothing in these passes waits. */
class StepClock {
  time = 0;

  now(): Instant {
    return instant(this.time);
  }

  wall(): Instant {
    return this.now();
  }

  async sleep(): Promise<void> {}
}

/** The kubelet's pass with its world: the pods and numbers of a script, collectors and a killer that only say what they did. */
class SyncScene {
  readonly #script: Script;
  readonly #clock = new StepClock();
  readonly #deps: CycleDeps;
  #state: EvictionState = INITIAL_STATE;
  #written: readonly WrittenPod[];
  #pods: readonly CasePod[] = [];
  #stats: { readonly told: Stats; readonly at: Instant | null } = { told: {}, at: null };
  #step: Step | null = null;
  #collected = { containers: false, images: false };
  #killed: string[] = [];
  #notified = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#written = script.pods;
    this.#deps = this.#depsOf(script);
  }

  async play(step: Step, path: string): Promise<readonly Difference[]> {
    this.#begin(step);
    const events = await this.#pass();
    return this.#differences(step.expect, events, `${path}.expect`);
  }

  #begin(step: Step): void {
    this.#clock.time += step.advanceSeconds * 1_000;
    for (const { remove, ...change } of step.changePods) {
      if (!this.#written.some(({ name }) => name === change.name)) {
        throw new Error(`Cannot change a pod as it is not there: ${change.name}`);
      }
      this.#written =
        remove === true
          ? this.#written.filter(({ name }) => name !== change.name)
          : this.#written.map((pod) => (pod.name === change.name ? { ...pod, ...change } : pod));
    }
    this.#written = [...this.#written, ...step.addPods];
    this.#pods = this.#written.map((pod) => casePod(pod));
    if (step.stats !== undefined) this.#stats = { told: step.stats, at: null };
    if (step.statsTimeSeconds !== undefined) {
      const at = step.statsTimeSeconds === null ? null : atSecond(step.statsTimeSeconds);
      this.#stats = { ...this.#stats, at };
    }
    this.#step = step;
    this.#collected = { containers: false, images: false };
    this.#killed = [];
    this.#notified = 0;
  }

  async #pass(): Promise<readonly EvictionEvent[]> {
    const events: EvictionEvent[] = [];
    const pass = runPass(this.#deps, this.#state, 'act', new AbortController().signal);
    for (;;) {
      const next = await pass.next();
      if (next.done === true) {
        this.#state = next.value;
        return events;
      }
      if (next.value.kind === 'pass-failed') throw new Error(next.value.message);
      events.push(next.value);
    }
  }

  #differences(expect: Step['expect'], events: readonly EvictionEvent[], path: string): readonly Difference[] {
    const kills = events.flatMap(killOf);
    const conditions = Object.fromEntries(
      Object.keys(expect.conditions).map((name) => [name, this.#state.conditions.some((each) => each === name)]),
    );
    const served = events.flatMap((event) =>
      event.kind === 'threshold-served'
        ? [
            {
              signal: event.threshold.signal,
              gracePeriodSeconds: event.threshold.urgency.kind === 'hard' ? 0 : event.threshold.urgency.grace / 1_000,
            },
          ]
        : [],
    );
    const newcomers = this.#script.admitCandidates.filter(({ name }) => expect.admit[name] !== undefined);
    const admitted = Object.fromEntries(
      newcomers.map((pod) => [pod.name, admit(newcomerOf(pod), this.#state.conditions).admitted]),
    );
    return [
      ...compare(`${path}.conditions`, expect.conditions, conditions),
      ...(expect.killed === undefined ? [] : compareKills(`${path}.killed`, expect.killed, kills)),
      // What is told is what was done.
      ...compare(
        `${path}.killed (killer)`,
        kills.map(({ pod }) => pod),
        this.#killed,
      ),
      ...(expect.gc === undefined ? [] : compare(`${path}.gc`, expect.gc, this.#collected)),
      ...compare(`${path}.admit`, expect.admit, admitted),
      ...compare(`${path}.error`, expect.error ?? null, errorIn(events, this.#state)),
      ...(expect.actsOn === undefined && this.#isTold()
        ? []
        : compare(`${path}.actsOn`, expect.actsOn ?? null, served[0] ?? null)),
      ...compare(`${path}.actsOn (more than one)`, [], served.slice(1)),
      ...(expect.podStatus === undefined ? [] : compare(`${path}.podStatus`, expect.podStatus, statusIn(events))),
      ...(expect.notifierUpdates === undefined
        ? []
        : compare(`${path}.notifierUpdates`, expect.notifierUpdates, this.#notified)),
      ...(expect.notifierDescribed === undefined
        ? []
        : compare(
            `${path}.notifierDescribed`,
            expect.notifierDescribed,
            events.filter(({ kind }) => kind === 'notifier-failed').length,
          )),
    ];
  }

  /** Scripts that were written by hand say what is acted on only where it matters; those of a run always do. */
  #isTold(): boolean {
    const { origin } = this.#script;
    return origin !== undefined && origin !== 'run-upstream';
  }

  #depsOf({ settings, layout, features }: Script): CycleDeps {
    const clock = this.#clock;
    const collect = (what: 'containers' | 'images') => (): ReclaimStepRun => this.#collect(what);
    const nothing = async () => [];
    return {
      clock,
      runtime: new FakeRuntime(emptyWorld(), clock),
      looker: {
        look: async () => this.#look(layout, features.separateDiskGc),
        lookAt: async (filesystem) => unreadable(filesystem, clock.now()),
        placeOn: async () => null,
      },
      pods: { list: async () => this.#pods.map(({ record }) => record) },
      containerGC: { deleteAllUnusedContainers: collect('containers'), planUnusedContainers: nothing },
      imageGC: {
        deleteUnusedImages: collect('images'),
        planUnusedImages: nothing,
        detectImages: () => Promise.reject(new Error('Cannot detect images as nobody asks for that in a pass')),
      },
      killPod: (pod) => this.#kill(pod.name),
      measurePods: async (pods, signal, fsLayout) =>
        new Map(
          pods.map(({ uid }) => {
            const pod = this.#podOf(uid);
            const { stats } = pod;
            return [
              uid,
              wholeUsage(stats === null ? null : usageOf(stats, signal, fsLayout, (name) => pod.isLocal(name))),
            ];
          }),
        ),
      kills: new Kills(),
      late: new LateSpace(),
      settingsFor: settingsByLayout({
        // An inert entry is never made here.
        thresholds: settings.thresholds.map(thresholdOf).filter((_, index) => !isInert(settings.thresholds[index])),
        transitionPeriod: milliseconds(settings.pressureTransitionSeconds * 1_000),
        policy,
      }),
      storageLimits: settings.localStorageIsolation ? { measure: async () => this.#measureAll() } : null,
      notifiers: [
        {
          description: 'hard memory threshold',
          update: () => {
            this.#notified += 1;
            if (this.#step?.notifierFails === true) throw new Error('Cannot watch memory as the kernel refuses');
          },
        },
      ],
      protectedNamespaces: [],
      maxPodGrace: null,
      maxPodGraceSeconds: settings.maxPodGracePeriodSeconds,
      evictionOff: () => null,
    };
  }

  #podOf(uid: string): CasePod {
    const found = this.#pods.find(({ record }) => record.uid === uid);
    if (found === undefined) throw new Error(`Cannot measure a pod as it is not there: ${uid}`);
    return found;
  }

  #measureAll(): ReadonlyMap<string, PodStats | null> {
    return new Map(this.#pods.map(({ record, stats }) => [record.uid, stats]));
  }

  #look(layout: Script['layout'], separateDiskGc: boolean): NodeLook {
    const hasCollected = this.#collected.containers || this.#collected.images;
    const step = this.#step;
    const isBlind = step?.statsFail === true || (hasCollected && step?.statsFailAfterGc === true);
    const told = (hasCollected ? step?.statsAfterGc : undefined) ?? this.#stats.told;
    const readings = readingsOf(summaryOf(told, this.#stats.at));
    const now = this.#clock.now();
    const blind = {
      nodefs: unreadable('nodefs', now),
      imagefs: unreadable('imagefs', now),
      containerfs: unreadable('containerfs', now),
    };
    const probed = layoutOfProbe(
      { ...layout, splitContainerFs: step?.splitProbeFails === true ? 'failed' : layout.splitContainerFs },
      separateDiskGc,
    );
    const known = step?.layoutProbeFails === true ? { layout: null, problem: 'EIO' } : { ...probed, problem: null };
    return {
      sight: observe(isBlind ? { ...readings, filesystems: blind } : readings, policy.eviction.doubtfulNumbers),
      ...known,
      memoryUse: { node: NO_MEMORY, pods: NO_MEMORY },
      fallbacks: [],
    };
  }

  async *#collect(what: 'containers' | 'images'): ReclaimStepRun {
    this.#collected = { ...this.#collected, [what]: true };
    return nothingRemoved(this.#step?.gcFails === true ? 'runtime-failed' : 'exhausted');
  }

  async *#kill(name: string): ReturnType<CycleDeps['killPod']> {
    this.#killed.push(name);
    return this.#step?.killFails === true ? { kind: 'failed', message: 'EIO' } : { kind: 'gone' };
  }
}

function isInert(written: WrittenThreshold | undefined): boolean {
  return written?.operator === '';
}

const NO_MEMORY = { available: null, workingSet: null, usage: null };

function unreadable(filesystem: FilesystemName, at: Instant): PathLook {
  return { kind: 'error', path: filesystem, message: 'EIO', at };
}

function summaryOf(told: Stats, at: Instant | null): StatsSummary {
  const number = (amount: string | number | undefined) => (amount === undefined ? null : numberOf(amount));
  const memory = (each: Stats['memory']) =>
    each === undefined ? null : { available: number(each.available), workingSet: number(each.workingSet), at };
  const filesystem = (each: Stats['nodeFs']) => {
    if (each === undefined) return null;
    const available = number(each.available);
    return {
      available,
      capacity: each.capacity === '2x' ? (available ?? 0) * 2 : number(each.capacity),
      inodesFree: number(each.inodesFree),
      inodes: each.inodes === '2x' ? (number(each.inodesFree) ?? 0) * 2 : number(each.inodes),
      at,
    };
  };
  const { rlimit } = told;
  return {
    memory: memory(told.memory),
    podsCgroup: memory(told.podsCgroup),
    nodeFs: filesystem(told.nodeFs),
    imageFs: filesystem(told.imageFs),
    containerFs: filesystem(told.containerFs),
    processes: rlimit === undefined ? null : { max: number(rlimit.maxPid), running: number(rlimit.running), at },
  };
}

type Kill = v.InferOutput<typeof KILL>;

/** A pod's end as the cases tell it, with the grace that the manager hands on. */
function killOf(event: EvictionEvent): readonly Kill[] {
  if (event.kind === 'eviction-decided') {
    return [{ pod: nameOf(event.pod.label), gracePeriodSeconds: event.graceOverrideSeconds ?? Number.NaN }];
  }
  if (event.kind !== 'storage-limit-served') return [];
  const { kind, subject } = event.violation;
  const kill = { pod: nameOf(event.pod.label), gracePeriodSeconds: event.graceSeconds, cause: kind };
  return [subject === null ? kill : { ...kill, subject }];
}

function nameOf(label: string): string {
  return label.slice(label.indexOf('/') + 1);
}

/** A cause and its subject are compared where they are given. */
function compareKills(
  path: string,
  expected: NonNullable<Step['expect']['killed']> | null,
  actual: readonly Kill[],
): readonly Difference[] {
  const wanted = expected === null ? [] : Array.isArray(expected) ? expected : [expected];
  const shown = actual.map((kill, index) => ({
    pod: kill.pod,
    gracePeriodSeconds: kill.gracePeriodSeconds,
    ...(wanted[index]?.cause === undefined ? {} : { cause: kill.cause }),
    ...(wanted[index]?.subject === undefined ? {} : { subject: kill.subject }),
  }));
  return compare(path, wanted, shown);
}

/** The error that a pass ends with, by the cases' label. */
function errorIn(events: readonly EvictionEvent[], { layout }: EvictionState): string | null {
  if (events.some(({ kind }) => kind === 'layout-refused')) return 'split-filesystem-unsupported';
  return layout === null && events.some(({ kind }) => kind === 'layout-unknown') ? 'image-filesystem-unknown' : null;
}

function statusIn(events: readonly EvictionEvent[]): unknown {
  for (const event of events) {
    if (event.kind !== 'eviction-decided' && event.kind !== 'storage-limit-served') continue;
    const { status } = event;
    if (status === undefined) return null;
    const { phase, reason, disruption } = status;
    const { type, status: its, reason: why } = disruption ?? {};
    return { phase, reason, disruptionCondition: disruption === null ? null : { type, status: its, reason: why } };
  }
  return null;
}

async function playScript(script: Script): Promise<readonly Difference[]> {
  const scene = new SyncScene(script);
  for (const [index, step] of script.steps.entries()) {
    const differences = await scene.play(step, `steps[${index}]`);
    // What follows a step that went wrong tells nothing of its own.
    if (differences.length > 0) return differences;
  }
  return [];
}

export const FILES: PlayFiles = {
  'eviction-scenarios': playFile(SCRIPT, playScript, {}),
  'golden-synchronize': playFile(SCRIPT, playScript, {}),
};
