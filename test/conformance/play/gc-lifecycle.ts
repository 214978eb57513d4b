import * as v from 'valibot';
import { planDeletions } from '../../../src/gc/plan-deletions.js';
import type { RelistedPart, RelistedPod } from '../../../src/gc/relist.js';
import type { ContainerRecord } from '../../../src/ports/runtime.js';
import { ContainerDeletor } from '../../../src/reclaim/container-deletor.js';
import { RELIST_THRESHOLD, Relister } from '../../../src/reclaim/relister.js';
import { instant, later, milliseconds } from '../../../src/units/units.js';
import { CASE, compareAsSets, compareExpected, type Difference, type PlayFiles, playFile } from '../case.js';
import { ContainerRuntime } from '../fakes/container-runtime.js';
import { refusal } from '../fakes/image-runtime.js';
import { containerRecord } from '../fakes/records.js';
import { StillClock } from '../fakes/still-clock.js';
import { STATE, stateOf } from './gc-containers.js';

const TEXTS = v.array(v.string());
const SIGNAL = new AbortController().signal;

const DELETION = v.strictObject({
  ...CASE,
  containers: v.array(v.strictObject({ id: v.string(), name: v.string(), createdAtMs: v.number(), state: STATE })),
  filterContainerId: v.string(),
  containersToKeep: v.number(),
  removeAll: v.optional(v.boolean()),
  alreadyQueued: v.optional(v.number()),
  expect: v.strictObject({ deleteIdsInOrder: v.optional(TEXTS), queuedIdsInOrder: v.optional(TEXTS) }),
});

async function playDeletion(each: v.InferOutput<typeof DELETION>): Promise<readonly Difference[]> {
  const containers = each.containers.map(({ id, name, createdAtMs, state }) =>
    containerRecord({ id, name, createdAt: instant(createdAtMs), state: stateOf(state) }),
  );
  const dead = each.filterContainerId === '' ? null : each.filterContainerId;
  if (each.removeAll === undefined) {
    const deleteIdsInOrder = planDeletions(containers, dead, each.containersToKeep).map(({ id }) => id);
    return compareExpected('expect', each.expect, { deleteIdsInOrder });
  }
  const deletor = new ContainerDeletor({
    runtime: new ContainerRuntime(),
    logs: { remove: async () => undefined },
    keepsUnverified: false,
    clock: new StillClock(),
    kept: each.containersToKeep,
  });
  deletor.deleteAllOf(filler(each.alreadyQueued ?? 0));
  const before = deletor.queued.length;
  deletor.deleteAfterDeath(containers, dead, each.removeAll);
  return compareExpected('expect', each.expect, { queuedIdsInOrder: deletor.queued.slice(before).map(({ id }) => id) });
}

/** Requests that wait already. */
function filler(length: number): readonly ContainerRecord[] {
  return Array.from({ length }, (_, index) => containerRecord({ id: `waiting-${index}`, state: 'exited' }));
}

const PARTS = v.array(v.strictObject({ id: v.string(), state: STATE }));
const PODS = v.array(v.strictObject({ podUid: v.string(), containers: PARTS, sandboxes: PARTS }));
const EVENTS = v.array(
  v.strictObject({
    podUid: v.string(),
    type: v.picklist(['ContainerStarted', 'ContainerDied', 'ContainerRemoved', 'PodSync']),
    containerId: v.optional(v.string()),
  }),
);
const RELISTED = v.strictObject({
  events: v.optional(EVENTS),
  eventCount: v.optional(v.number()),
  eventsSubsetOf: v.optional(EVENTS),
  cachedPods: v.optional(TEXTS),
  cacheErrorPods: v.optional(TEXTS),
  inspectedPods: v.optional(TEXTS),
  runningPods: v.optional(v.number()),
  containersByState: v.optional(v.record(v.string(), v.number())),
});
const STEP = v.variant('do', [
  v.strictObject({
    do: v.literal('relist'),
    pods: PODS,
    podStatusErrors: v.optional(TEXTS, []),
    listError: v.optional(v.boolean(), false),
    expect: v.optional(RELISTED, {}),
  }),
  v.strictObject({
    do: v.literal('relistPod'),
    podUid: v.string(),
    pods: PODS,
    podStatusErrors: v.optional(TEXTS, []),
    expect: RELISTED,
  }),
  v.strictObject({ do: v.literal('reinspect'), podUid: v.string() }),
  v.strictObject({ do: v.literal('advance'), ms: v.number() }),
  v.strictObject({ do: v.literal('healthy'), expect: v.strictObject({ healthy: v.boolean() }) }),
]);
const PLEG = v.strictObject({
  ...CASE,
  channelCapacity: v.optional(v.number()),
  relistThresholdMs: v.optional(v.number()),
  steps: v.array(STEP),
});
type Step = v.InferOutput<typeof STEP>;
type Events = v.InferOutput<typeof EVENTS>;

/** A relister over pods that each step sets. The order of events is compared inside each pod only where `ordered`. */
class PlegScene {
  readonly #clock = new StillClock();
  readonly #relister: Relister<string>;
  readonly #threshold;
  readonly #isOrdered: boolean;
  #pods: readonly RelistedPod[] = [];
  #listFails = false;
  #failing: readonly string[] = [];
  #inspected: string[] = [];

  constructor({ channelCapacity, relistThresholdMs }: v.InferOutput<typeof PLEG>, isOrdered: boolean) {
    this.#isOrdered = isOrdered;
    this.#threshold = relistThresholdMs === undefined ? RELIST_THRESHOLD : milliseconds(relistThresholdMs);
    this.#relister = new Relister({
      clock: this.#clock,
      list: async () => {
        if (this.#listFails) throw refusal('ListContainers');
        return this.#pods;
      },
      inspect: async (uid) => {
        this.#inspected.push(uid);
        if (this.#failing.includes(uid)) throw refusal('ContainerStatus');
        return uid;
      },
      ...(channelCapacity === undefined ? {} : { channelCapacity }),
    });
  }

  async play(step: Step, path: string): Promise<readonly Difference[]> {
    switch (step.do) {
      case 'relist':
        this.#set(step.pods, step.podStatusErrors, step.listError);
        await this.#relister.relist(SIGNAL);
        return this.#compare(`${path}.expect`, step.expect);
      case 'relistPod':
        this.#set(step.pods, step.podStatusErrors, false);
        await this.#relister.relistPod(step.podUid, this.#clock.now(), SIGNAL);
        return this.#compare(`${path}.expect`, step.expect);
      case 'reinspect':
        this.#relister.askForInspection(step.podUid);
        return [];
      case 'advance':
        this.#clock.time = later(this.#clock.time, milliseconds(step.ms));
        return [];
      case 'healthy':
        return compareExpected(`${path}.expect`, step.expect, { healthy: this.#relister.isHealthy(this.#threshold) });
    }
  }

  #set(pods: v.InferOutput<typeof PODS>, failing: readonly string[], listFails: boolean): void {
    this.#pods = pods.map(({ podUid, containers, sandboxes }) => ({
      uid: podUid,
      containers: containers.map(partOf),
      sandboxes: sandboxes.map(partOf),
    }));
    this.#failing = failing;
    this.#listFails = listFails;
    this.#inspected = [];
  }

  #compare(path: string, expected: v.InferOutput<typeof RELISTED>): readonly Difference[] {
    const events: Events = this.#relister.take().map((event) => ({
      podUid: event.podUid,
      type: event.kind,
      ...(event.kind === 'PodSync' ? {} : { containerId: event.containerId }),
    }));
    const { cache, runningPods, containersByState } = this.#relister.state;
    const { events: wanted, eventsSubsetOf, ...rest } = expected;
    const failed = [...cache].filter(([, entry]) => entry.kind === 'error').map(([uid]) => uid);
    return [
      ...(wanted === undefined ? [] : this.#compareEvents(`${path}.events`, wanted, events)),
      ...(eventsSubsetOf === undefined ? [] : strangers(`${path}.eventsSubsetOf`, eventsSubsetOf, events)),
      ...compareExpected(path, rest, {
        eventCount: events.length,
        cachedPods: [...cache.keys()].sort(),
        cacheErrorPods: failed.sort(),
        inspectedPods: this.#inspected.toSorted(),
        runningPods,
        containersByState: Object.fromEntries(
          Object.entries(containersByState).map(([state, count]) => [state.toUpperCase(), count]),
        ),
      }),
    ];
  }

  #compareEvents(path: string, wanted: Events, events: Events): readonly Difference[] {
    if (!this.#isOrdered) return compareAsSets(path, wanted, events);
    return compareAsSets(path, byPod(wanted), byPod(events));
  }
}

function byPod(events: Events): readonly Events[] {
  const uids = new Set(events.map((each) => each.podUid));
  return [...uids].map((uid) => events.filter((each) => each.podUid === uid));
}

/** Events that are not among those that may come. */
function strangers(path: string, allowed: Events, events: Events): readonly Difference[] {
  const texts = new Set(allowed.map((each) => JSON.stringify([each.podUid, each.type, each.containerId])));
  return events
    .filter((each) => !texts.has(JSON.stringify([each.podUid, each.type, each.containerId])))
    .map((actual) => ({ path, expected: 'one of those that may come', actual }));
}

function partOf({ id, state }: { readonly id: string; readonly state: v.InferOutput<typeof STATE> }): RelistedPart {
  return { id, state: stateOf(state) };
}

function playPleg(isOrdered: boolean) {
  return async (each: v.InferOutput<typeof PLEG>): Promise<readonly Difference[]> => {
    const scene = new PlegScene(each, isOrdered);
    const differences: Difference[] = [];
    for (const [index, step] of each.steps.entries()) differences.push(...(await scene.play(step, `steps[${index}]`)));
    return differences;
  };
}

/** Deaths: how they are noticed, and the clean-up after them. */
export const FILES: PlayFiles = {
  'gc-pod-container-deletor': playFile(DELETION, playDeletion, {}),
  'golden-container-deletor': playFile(DELETION, playDeletion, {}),
  'gc-pleg': playFile(PLEG, playPleg(false), {}),
  'golden-pleg': playFile(PLEG, playPleg(true), {}),
};
