import * as v from 'valibot';
import { imageGcMarksFault } from '../../../src/config/image-gc-rules.js';
import type { EvictionEvent } from '../../../src/eviction/event.js';
import { POLICIES } from '../../../src/eviction/policy.js';
import type { GcEvent } from '../../../src/gc/gc-event.js';
import { type ImageRules, spaceDemand } from '../../../src/gc/image-collection.js';
import { ImageCollector } from '../../../src/reclaim/image-collector.js';
import { createImageGC } from '../../../src/reclaim/image-gc.js';
import { askEveryContainer } from '../../../src/reclaim/image-mounts.js';
import type { CandidateList, ImageFailure } from '../../../src/reclaim/image-run.js';
import { LateSpace } from '../../../src/reclaim/late-space.js';
import type { ReclaimRun } from '../../../src/reclaim/run.js';
import { type Bytes, bytes, type Instant, instant, milliseconds } from '../../../src/units/units.js';
import { CASE, compare, compareExpected, type Difference, type PlayFiles, playFile } from '../case.js';
import { ImageRuntime, mountingContainer, refusal } from '../fakes/image-runtime.js';
import { imageRecord } from '../fakes/records.js';
import { told } from '../fakes/run-events.js';
import { StillClock, ZERO_TIME } from '../fakes/still-clock.js';

const TIME = v.union([v.number(), v.literal('zero')]);
/** Null = nobody says. */
const AMOUNT = v.nullable(v.number());
const IDS = v.array(v.string());
const RECORDS = v.record(
  v.string(),
  v.strictObject({
    firstDetectedMs: TIME,
    lastUsedMs: TIME,
    sizeBytes: v.optional(v.number()),
    pinned: v.optional(v.boolean()),
    runtimeHandler: v.optional(v.string()),
  }),
);
const REMOVALS = v.array(
  v.strictObject({ id: v.string(), reason: v.picklist(['age', 'space']), runtimeHandler: v.optional(v.string()) }),
);
/** What a pass is expected to do; each key that is there is compared completely. */
const PASS = v.strictObject({
  error: v.boolean(),
  errorKind: v.optional(v.nullable(v.string())),
  removed: v.optional(REMOVALS),
  removeFailed: v.optional(REMOVALS),
  bytesFreed: v.optional(v.number()),
  bytesToFree: v.optional(v.nullable(v.number())),
  usagePercent: v.optional(v.nullable(v.number())),
  events: v.optional(v.array(v.string())),
  imageIds: v.optional(IDS),
  imagesLeftCount: v.optional(v.number()),
  hookRemaining: v.optional(v.nullable(IDS)),
  notRemovedIds: v.optional(IDS),
  removedCount: v.optional(v.number()),
  removedIdsAnyOrder: v.optional(IDS),
});
const DETECTED = v.strictObject({
  error: v.optional(v.boolean()),
  errorKind: v.optional(v.nullable(v.string())),
  recordCount: v.optional(v.number()),
  records: v.optional(RECORDS),
});

const STEP = v.variant('do', [
  v.strictObject({
    do: v.literal('setImages'),
    images: v.array(
      v.strictObject({
        id: v.string(),
        sizeBytes: v.number(),
        pinned: v.optional(v.boolean(), false),
        runtimeHandler: v.optional(v.string(), ''),
      }),
    ),
  }),
  v.strictObject({
    do: v.literal('setContainers'),
    containers: v.array(
      v.strictObject({
        id: v.string(),
        imageId: v.string(),
        imageName: v.optional(v.string(), ''),
        runtimeHandler: v.optional(v.string(), ''),
        imageVolumeIds: v.optional(IDS, []),
      }),
    ),
  }),
  v.strictObject({
    do: v.literal('setFailures'),
    removeImageIds: IDS,
    containerStatusIds: IDS,
    listImages: v.boolean(),
    listContainers: v.boolean(),
  }),
  v.strictObject({ do: v.literal('setClock'), nowMs: v.number() }),
  v.strictObject({ do: v.literal('detect'), detectTimeMs: TIME, expect: v.optional(DETECTED) }),
  v.strictObject({ do: v.literal('checkRecords'), expect: DETECTED }),
  v.strictObject({
    do: v.literal('listCandidates'),
    freeTimeMs: v.number(),
    expect: v.strictObject({ candidateIds: IDS }),
  }),
  v.strictObject({ do: v.literal('setCandidateLastUsed'), id: v.string(), lastUsedMs: TIME }),
  v.strictObject({
    do: v.literal('freeOld'),
    freeTimeMs: v.number(),
    gcBeganMs: v.number(),
    expect: v.strictObject({ error: v.boolean(), candidateIds: IDS, imagesLeftCount: v.number() }),
  }),
  v.strictObject({ do: v.literal('freeSpace'), bytesToFree: v.number(), freeTimeMs: v.number(), expect: PASS }),
  v.strictObject({ do: v.literal('deleteUnused'), expect: PASS }),
  v.strictObject({
    do: v.literal('collect'),
    gcBeganMs: v.optional(v.number(), 0),
    imageFs: v.optional(v.nullable(v.strictObject({ availableBytes: AMOUNT, capacityBytes: AMOUNT }))),
    imageFsError: v.optional(v.boolean(), false),
    expect: PASS,
  }),
  v.strictObject({ do: v.literal('checkImages'), expect: v.strictObject({ imageIds: IDS }) }),
]);

const SCENE = v.strictObject({
  ...CASE,
  policy: v.strictObject({
    highThresholdPercent: v.number(),
    lowThresholdPercent: v.number(),
    minAgeMs: v.number(),
    maxAgeMs: v.number(),
  }),
  runtimeHandlerAware: v.boolean(),
  tie: v.optional(v.boolean()),
  steps: v.array(STEP),
});
type Step = v.InferOutput<typeof STEP>;

const SIGNAL = new AbortController().signal;

/** One collector with its world, playing the steps of a case. */
class ImageScene {
  readonly #clock = new StillClock();
  readonly #runtime: ImageRuntime;
  readonly #collector: ImageCollector;
  readonly #rules: ImageRules;
  #hook: readonly string[] | null = null;
  #kept: CandidateList | null = null;

  constructor({ policy, runtimeHandlerAware }: v.InferOutput<typeof SCENE>) {
    this.#runtime = new ImageRuntime(runtimeHandlerAware);
    this.#rules = {
      highPercent: policy.highThresholdPercent,
      lowPercent: policy.lowThresholdPercent,
      minAge: milliseconds(policy.minAgeMs),
      maxAge: policy.maxAgeMs === 0 ? null : milliseconds(policy.maxAgeMs),
      runtimeHandlerAware,
    };
    this.#collector = new ImageCollector({
      runtime: this.#runtime,
      removeImage: (image) => this.#runtime.removeImage(image),
      volumes: askEveryContainer(this.#runtime),
      clock: this.#clock,
      rules: this.#rules,
      afterSpacePass: (kept) => {
        this.#hook = kept;
      },
    });
  }

  async play(step: Step, path: string): Promise<readonly Difference[]> {
    const expectPath = `${path}.expect`;
    switch (step.do) {
      case 'setImages':
        this.#runtime.images = step.images.map((each) => imageRecord({ ...each, size: bytes(each.sizeBytes) }));
        return [];
      case 'setContainers':
        this.#runtime.containers = step.containers.map((each) =>
          mountingContainer({
            id: each.id,
            imageId: each.imageId,
            image: each.imageName,
            runtimeHandler: each.runtimeHandler,
            imageVolumes: each.imageVolumeIds,
          }),
        );
        return [];
      case 'setFailures':
        this.#runtime.failures = step;
        return [];
      case 'setClock':
        this.#clock.time = instant(step.nowMs);
        return [];
      case 'detect': {
        const detected = await this.#collector.detect(timeOf(step.detectTimeMs), SIGNAL);
        const errorKind = detected.kind === 'failed' ? detected.error.kind : null;
        return step.expect === undefined ? [] : this.#compareRecords(expectPath, step.expect, errorKind);
      }
      case 'checkRecords':
        return this.#compareRecords(expectPath, step.expect, null);
      case 'listCandidates': {
        const { result } = await told(this.#collector.listCandidates(instant(step.freeTimeMs), SIGNAL));
        if (result.kind === 'failed') return compare(expectPath, step.expect, result.error.kind);
        this.#kept = result.list;
        return compareExpected(expectPath, step.expect, { candidateIds: idsOf(result.list) });
      }
      case 'setCandidateLastUsed': {
        const list = this.#keptList();
        const lastUsed = step.lastUsedMs === 'zero' ? null : instant(step.lastUsedMs);
        const candidates = list.candidates.map((each) =>
          each.id === step.id ? { ...each, record: { ...each.record, lastUsed } } : each,
        );
        this.#kept = { ...list, candidates };
        return [];
      }
      case 'freeOld': {
        const times = { freeTime: instant(step.freeTimeMs), gcBegan: instant(step.gcBeganMs) };
        const { result } = await told(this.#collector.agePass(this.#keptList(), times, SIGNAL));
        if (result.kind === 'listed') this.#kept = result.list;
        return compareExpected(expectPath, step.expect, {
          error: result.kind === 'failed',
          candidateIds: result.kind === 'failed' ? [] : idsOf(result.list),
          imagesLeftCount: this.#runtime.images.length,
        });
      }
      case 'freeSpace':
        return this.#pass(expectPath, step.expect, this.#freeSpace(step.bytesToFree, instant(step.freeTimeMs)));
      case 'deleteUnused':
        // Reclaiming removes an id with all its handlers, as CRI does; only the collector itself tells them apart.
        return this.#rules.runtimeHandlerAware
          ? this.#pass(expectPath, step.expect, this.#deleteUnused())
          : this.#reclaim(expectPath, step.expect);
      case 'collect':
        return this.#pass(expectPath, step.expect, this.#collect(step));
      case 'checkImages':
        return compareExpected(expectPath, step.expect, { imageIds: this.#imageIds() });
    }
  }

  async *#deleteUnused(): AsyncGenerator<GcEvent, PassSeen> {
    const { error, freed, kept } = yield* this.#collector.deleteUnused(SIGNAL);
    return { errorKind: error?.kind ?? null, bytesFreed: freed, notRemovedIds: kept };
  }

  /** The same as it happens under pressure. */
  async #reclaim(path: string, expected: v.InferOutput<typeof PASS>): Promise<readonly Difference[]> {
    this.#hook = null;
    const before = this.#runtime.images.length;
    const runtime = this.#runtime;
    const gc = createImageGC({
      runtime: {
        listImages: () => runtime.listImages(),
        listContainers: () => runtime.listContainers(),
        containerStatus: (id) => runtime.containerStatus(id),
        removeImage: (id) => runtime.removeImage({ id, runtimeHandler: '' }),
      },
      clock: this.#clock,
      minAge: this.#rules.minAge,
      sandboxImage: null,
      protectedImages: [],
      collector: this.#collector,
    });
    const { events } = await told(gc.deleteUnusedImages(kubeletRun(this.#clock)));
    const idsOfKind = (kind: 'removed' | 'removal-failed') =>
      events.flatMap((event) => (event.kind === kind ? [event.subject.id] : []));
    const [removed, removeFailed] = [idsOfKind('removed'), idsOfKind('removal-failed')];
    const { hookRemaining, ...rest } = expected;
    const seen = {
      error: removeFailed.length > 0 || events.some((event) => event.kind === 'list-failed'),
      errorKind: removeFailed.length > 0 ? 'space-removal-failed' : await this.#listFailure(events),
      removed: removed.map((id) => ({ id, reason: 'space' })),
      removeFailed: removeFailed.map((id) => ({ id, reason: 'space' })),
      events: [],
      imageIds: this.#imageIds(),
      imagesLeftCount: this.#runtime.images.length,
      removedCount: before - this.#runtime.images.length,
      removedIdsAnyOrder: removed.toSorted(),
    };
    const differences = compareExpected(path, rest, seen);
    if (hookRemaining === undefined) return differences;
    // The order of this list means nothing to who follows.
    const hook: readonly string[] | null = this.#hook;
    return [...differences, ...compare(`${path}.hookRemaining`, sorted(hookRemaining), sorted(hook))];
  }

  /** A detection that failed has changed nothing: the same one fails in the same way. */
  async #listFailure(events: readonly EvictionEvent[]): Promise<ImageFailure | null> {
    if (!events.some((event) => event.kind === 'list-failed')) return null;
    const again = await this.#collector.detect(this.#clock.now(), SIGNAL);
    return again.kind === 'failed' ? again.error.kind : null;
  }

  async *#freeSpace(wanted: number, freeTime: Instant): AsyncGenerator<GcEvent, PassSeen> {
    const listed = yield* this.#collector.listCandidates(freeTime, SIGNAL);
    if (listed.kind === 'failed') return { errorKind: listed.error.kind };
    const { error, freed, kept } = yield* this.#collector.spacePass(listed.list, wanted, freeTime, SIGNAL);
    return { errorKind: error?.kind ?? null, bytesFreed: freed, notRemovedIds: kept };
  }

  async *#collect(step: Extract<Step, { do: 'collect' }>): AsyncGenerator<GcEvent, PassSeen> {
    const statistics = async () => {
      if (step.imageFsError || !step.imageFs) throw refusal('ImageFsInfo');
      return { available: bytesOf(step.imageFs.availableBytes), capacity: bytesOf(step.imageFs.capacityBytes) };
    };
    const { error, freed, ...rest } = yield* this.#collector.collect(instant(step.gcBeganMs), statistics, SIGNAL);
    return { ...rest, errorKind: error?.kind ?? null, bytesFreed: freed };
  }

  /** Plays a pass and compares what it told with what is expected of it. */
  async #pass(
    path: string,
    expected: v.InferOutput<typeof PASS>,
    run: AsyncGenerator<GcEvent, PassSeen>,
  ): Promise<readonly Difference[]> {
    this.#hook = null;
    const before = this.#runtime.images.length;
    const calls = this.#runtime.removals.length;
    const { events, result } = await told(run);
    const removals = this.#removals(events, calls);
    const removed = removals.flatMap((each) => (each.ok ? [each.removal] : []));
    return compareExpected(path, expected, {
      ...result,
      error: result.errorKind !== null,
      removed,
      removeFailed: removals.flatMap((each) => (each.ok ? [] : [each.removal])),
      events: events.flatMap((event) => (event.kind === 'node-event' ? [event.reason] : [])),
      imageIds: this.#imageIds(),
      imagesLeftCount: this.#runtime.images.length,
      hookRemaining: this.#hook,
      removedCount: before - this.#runtime.images.length,
      removedIdsAnyOrder: removed.map((each) => each.id).sort(),
    });
  }

  /** What was told of each removal, with the handler that the runtime was asked for. */
  #removals(events: readonly GcEvent[], callsBefore: number) {
    const done = events.flatMap((event) =>
      (event.kind === 'collected' || event.kind === 'not-collected') && event.countedAs !== null ? [event] : [],
    );
    const calls = this.#runtime.removals.slice(callsBefore);
    if (calls.length !== done.length) throw new Error(`${calls.length} removals were asked for, ${done.length} told`);
    return done.map((event, index) => ({
      ok: event.kind === 'collected',
      removal: {
        id: event.subject.id,
        reason: event.countedAs,
        ...(this.#rules.runtimeHandlerAware ? { runtimeHandler: calls[index]?.runtimeHandler } : {}),
      },
    }));
  }

  #compareRecords(
    path: string,
    expected: v.InferOutput<typeof DETECTED>,
    errorKind: ImageFailure | null,
  ): readonly Difference[] {
    const { records, ...rest } = expected;
    const known = this.#collector.records;
    const differences = compareExpected(path, rest, { error: errorKind !== null, errorKind, recordCount: known.size });
    if (records === undefined) return differences;
    return [
      ...differences,
      ...compare(`${path}.records`, Object.keys(records).sort(), [...known.keys()].sort()),
      ...Object.entries(records).flatMap(([key, record]) => {
        const actual = known.get(key);
        return compareExpected(`${path}.records.${key}`, record, {
          firstDetectedMs: actual?.firstDetected === ZERO_TIME ? 'zero' : actual?.firstDetected,
          lastUsedMs: actual?.lastUsed ?? 'zero',
          sizeBytes: actual?.size,
          pinned: actual?.pinned,
          runtimeHandler: actual?.runtimeHandler,
        });
      }),
    ];
  }

  #keptList(): CandidateList {
    if (this.#kept === null) throw new Error('Cannot go on as no candidates were listed');
    return this.#kept;
  }

  #imageIds(): readonly string[] {
    return this.#runtime.images.map((each) => each.id);
  }
}

/** What a pass answered with. */
interface PassSeen {
  readonly errorKind: ImageFailure | null;
  readonly bytesFreed?: number;
  readonly notRemovedIds?: readonly string[];
  readonly usagePercent?: number | null;
  readonly bytesToFree?: number | null;
}

function sorted(ids: readonly string[] | null): readonly string[] | null {
  return ids?.toSorted() ?? null;
}

/** A collection under pressure that removes all it may. */
function kubeletRun(clock: StillClock): ReclaimRun {
  return {
    goals: [{ signal: 'imagefs.available', line: 1, target: 1 }],
    isHard: true,
    policy: POLICIES.kubelet,
    clock,
    look: async () => ({ 'imagefs.available': 0 }),
    late: new LateSpace(),
    signal: SIGNAL,
  };
}

function bytesOf(amount: number | null): Bytes | null {
  return amount === null ? null : bytes(amount);
}

function idsOf(list: CandidateList): readonly string[] {
  return list.candidates.map((each) => each.id);
}

function timeOf(time: v.InferOutput<typeof TIME>): Instant {
  return time === 'zero' ? ZERO_TIME : instant(time);
}

async function playScene(each: v.InferOutput<typeof SCENE>): Promise<readonly Difference[]> {
  const scene = new ImageScene(each);
  const differences: Difference[] = [];
  for (const [index, step] of each.steps.entries()) differences.push(...(await scene.play(step, `steps[${index}]`)));
  return differences;
}

const MARKS = v.strictObject({ highThresholdPercent: v.number(), lowThresholdPercent: v.number() });
const ERROR_KIND = v.strictObject({ errorKind: v.nullable(v.string()) });

/** The constructor of the kubelet's manager takes equal marks; only its configuration check does not. */
async function playPolicy({
  policy,
  expect,
}: {
  policy: v.InferOutput<typeof MARKS>;
  expect: { errorKind: string | null };
}) {
  const fault = imageGcMarksFault(policy.highThresholdPercent, policy.lowThresholdPercent);
  return compare('expect.errorKind', expect.errorKind, fault === 'low-equals-high' ? null : fault);
}

const THRESHOLD = v.strictObject({
  ...CASE,
  ...MARKS.entries,
  availableBytes: v.nullable(v.number()),
  capacityBytes: v.number(),
  expect: v.strictObject({
    errorKind: v.nullable(v.string()),
    usagePercent: v.nullable(v.number()),
    triggered: v.nullable(v.boolean()),
    bytesToFree: v.nullable(v.number()),
  }),
});

async function playThreshold(each: v.InferOutput<typeof THRESHOLD>): Promise<readonly Difference[]> {
  const demand = spaceDemand(
    {
      available: bytesOf(each.availableBytes),
      capacity: bytes(each.capacityBytes),
    },
    { highPercent: each.highThresholdPercent, lowPercent: each.lowThresholdPercent },
  );
  const isZero = demand.kind === 'capacity-zero';
  return compare('expect', each.expect, {
    errorKind: isZero ? 'capacity-zero' : null,
    usagePercent: isZero ? null : demand.usagePercent,
    triggered: isZero ? null : demand.kind === 'free',
    bytesToFree: demand.kind === 'free' ? demand.bytesToFree : null,
  });
}

/** Image collection. */
export const FILES: PlayFiles = {
  'gc-image': playFile(SCENE, playScene, {}),
  'golden-image-gc': playFile(SCENE, playScene, {}),
  'gc-image-policy': playFile(v.strictObject({ ...CASE, policy: MARKS, expect: ERROR_KIND }), playPolicy, {}),
  'gc-image-threshold-derived': playFile(THRESHOLD, playThreshold, {}),
};
