import * as v from 'valibot';
import { conditionsOf, conditionTimes, hasCondition, reportedConditions } from '../../../src/eviction/conditions.js';
import {
  byUrgency,
  firstMetTimes,
  LineBook,
  mergeThresholds,
  pastGrace,
  thresholdsBelow,
  withFreshNumbers,
} from '../../../src/eviction/evaluate.js';
import { type Observation, type Observations, observe } from '../../../src/eviction/observe.js';
import { POLICIES } from '../../../src/eviction/policy.js';
import { type NodeCondition, SIGNALS, type Signal } from '../../../src/eviction/signal.js';
import { readingsOf, type StatsSummary } from '../../../src/eviction/stats-summary.js';
import type { Threshold } from '../../../src/eviction/threshold.js';
import { measurePods } from '../../../src/reclaim/pod-usage.js';
import { bytes, milliseconds } from '../../../src/units/units.js';
import { compare, compareAsSets, type Difference, type PlayFiles, playFile } from '../case.js';
import { StillClock } from '../fakes/still-clock.js';
import {
  AMOUNT,
  atSecond,
  CONDITION,
  EVICTION_CASE,
  NAMES,
  numberOf,
  RESOURCE,
  SIGNAL,
  summaryOf,
  THRESHOLD,
  thresholdOf,
  timeOf,
  type WrittenThreshold,
} from './eviction-notation.js';
import { casePod } from './eviction-pod.js';

const { kubelet } = POLICIES;
const NUMBER = v.optional(v.number());
const MEMORY = v.optional(v.strictObject({ availableBytes: NUMBER, workingSetBytes: NUMBER, timeSeconds: NUMBER }));
const FILESYSTEM = v.optional(
  v.strictObject({
    availableBytes: NUMBER,
    capacityBytes: NUMBER,
    inodesFree: NUMBER,
    inodes: NUMBER,
    timeSeconds: NUMBER,
  }),
);
const SUMMARY = v.strictObject({
  memory: MEMORY,
  podsCgroup: MEMORY,
  nodeFs: FILESYSTEM,
  imageFs: FILESYSTEM,
  containerFs: FILESYSTEM,
  rlimit: v.optional(v.strictObject({ maxPid: NUMBER, runningProcesses: NUMBER, timeSeconds: NUMBER })),
});
type WrittenSummary = v.InferOutput<typeof SUMMARY>;

function summaryOfNode(written: WrittenSummary): StatsSummary {
  const memory = (told: WrittenSummary['memory']) =>
    told === undefined
      ? null
      : {
          available: told.availableBytes ?? null,
          workingSet: told.workingSetBytes ?? null,
          at: timeOf(told.timeSeconds),
        };
  const filesystem = (told: WrittenSummary['nodeFs']) =>
    told === undefined
      ? null
      : {
          available: told.availableBytes ?? null,
          capacity: told.capacityBytes ?? null,
          inodesFree: told.inodesFree ?? null,
          inodes: told.inodes ?? null,
          at: timeOf(told.timeSeconds),
        };
  const { rlimit } = written;
  return {
    memory: memory(written.memory),
    podsCgroup: memory(written.podsCgroup),
    nodeFs: filesystem(written.nodeFs),
    imageFs: filesystem(written.imageFs),
    containerFs: filesystem(written.containerFs),
    processes:
      rlimit === undefined
        ? null
        : { max: rlimit.maxPid ?? null, running: rlimit.runningProcesses ?? null, at: timeOf(rlimit.timeSeconds) },
  };
}

function observed(written: WrittenSummary): Observations {
  return observe(readingsOf(summaryOfNode(written)), kubelet.eviction.doubtfulNumbers).observations;
}

const OBSERVATIONS = v.strictObject({
  ...EVICTION_CASE,
  summary: SUMMARY,
  onlySignal: v.nullable(SIGNAL),
  expectObservations: v.record(
    v.string(),
    v.strictObject({ available: v.number(), capacity: v.number(), timeSeconds: NUMBER }),
  ),
  pods: v.optional(
    v.array(v.strictObject({ name: v.string(), namespace: v.string(), uid: v.string(), workingSetBytes: v.number() })),
  ),
  expectPodWorkingSetByUid: v.optional(v.record(v.string(), v.number())),
});

async function playObservations(each: v.InferOutput<typeof OBSERVATIONS>): Promise<readonly Difference[]> {
  const shown = [...observed(each.summary).values()].filter(
    ({ signal }) => each.onlySignal === null || signal === each.onlySignal,
  );
  const actual = Object.fromEntries(
    shown.map(({ signal, available, capacity, at }) => [
      signal,
      { available, capacity, timeSeconds: at === null ? undefined : at / 1_000 },
    ]),
  );
  return [
    ...compare('expectObservations', each.expectObservations, actual),
    ...(each.expectPodWorkingSetByUid === undefined
      ? []
      : compare('expectPodWorkingSetByUid', each.expectPodWorkingSetByUid, await workingSets(each.pods ?? []))),
  ];
}

/** Each pod has one container, which the runtime tells the working set of. */
async function workingSets(
  pods: NonNullable<v.InferOutput<typeof OBSERVATIONS>['pods']>,
): Promise<Readonly<Record<string, number | null>>> {
  const records = pods.map(({ uid, name, namespace }) => ({
    ...casePod({ name, namespace }).record,
    uid,
    containers: [{ ...CONTAINER, id: uid, pod: { uid, name, namespace } }],
  }));
  const deps = {
    runtime: {
      listContainerUsage: async () =>
        pods.map(({ uid, workingSetBytes }) => ({
          id: uid,
          writableLayer: null,
          memoryWorkingSet: bytes(workingSetBytes),
        })),
    },
    files: NO_FILES,
    clock: new PatientClock(),
    podLogsDir: '/logs',
    podVolumesDir: '/volumes',
  };
  const measured = await measurePods(deps, records, 'memory.available', 'one-disk', new AbortController().signal);
  return Object.fromEntries([...measured].map(([uid, { total }]) => [uid, total]));
}

/** Time stands still: whoever waits for a limit waits on. */
class PatientClock extends StillClock {
  override sleep(): Promise<void> {
    return new Promise(() => undefined);
  }
}

const CONTAINER = {
  sandboxId: '',
  name: 'main',
  attempt: 0,
  state: 'running',
  createdAt: atSecond(0),
  imageId: '',
  imageRef: '',
  image: '',
  runtimeHandler: '',
  labels: {},
  annotations: {},
} as const;
const NO_FILES = {
  usage: async () => null,
  removeTree: async () => undefined,
  removeLogs: async () => undefined,
};

const CATALOGUE = v.strictObject({
  ...EVICTION_CASE,
  signal: SIGNAL,
  operator: v.literal('LessThan'),
  resource: RESOURCE,
  nodeCondition: CONDITION,
  available: v.string(),
  capacity: v.string(),
  time: v.string(),
  observedOnlyIfAllPresent: NAMES,
});

/** The kubelet's summary by the names of its own fields: each number another, so that no two can be taken for one another. */
const FIELDS = [
  ['node.memory', 'memory', ['availableBytes', 'workingSetBytes']],
  ['node.systemContainers[pods].memory', 'podsCgroup', ['availableBytes', 'workingSetBytes']],
  ['node.fs', 'nodeFs', ['availableBytes', 'capacityBytes', 'inodesFree', 'inodes']],
  ['node.runtime.imageFs', 'imageFs', ['availableBytes', 'capacityBytes', 'inodesFree', 'inodes']],
  ['node.runtime.containerFs', 'containerFs', ['availableBytes', 'capacityBytes', 'inodesFree', 'inodes']],
  ['node.rlimit', 'rlimit', ['maxPid', 'runningProcesses']],
] as const;

/** Plays that each number comes from the field that is named, by looking at a summary in which all are different. */
async function playCatalogue(each: v.InferOutput<typeof CATALOGUE>): Promise<readonly Difference[]> {
  const numbers = new Map<string, number>();
  for (const [place, , fields] of FIELDS) {
    for (const field of [...fields, 'time']) numbers.set(`${place}.${field}`, 1_000 + 37 * numbers.size);
  }
  const { resource, condition } = SIGNALS[each.signal];
  const seen = observed(summaryFrom(numbers)).get(each.signal);
  const without = each.observedOnlyIfAllPresent.map((field) => {
    const fewer = new Map([...numbers].filter(([name]) => name !== field));
    return { field, isKnown: fewer.size < numbers.size, isObserved: observed(summaryFrom(fewer)).has(each.signal) };
  });
  return [
    ...compare(
      '',
      { resource: each.resource, nodeCondition: each.nodeCondition },
      { resource, nodeCondition: condition },
    ),
    ...compare(
      '',
      {
        available: valueOf(each.available, numbers),
        capacity: valueOf(each.capacity, numbers),
        time: valueOf(each.time, numbers),
      },
      {
        available: seen?.available,
        capacity: seen?.capacity,
        time: seen?.at === null ? null : (seen?.at ?? 0) / 1_000,
      },
    ),
    ...compare(
      'observedOnlyIfAllPresent',
      each.observedOnlyIfAllPresent.map((field) => ({ field, isKnown: true, isObserved: false })),
      without,
    ),
  ];
}

function summaryFrom(numbers: ReadonlyMap<string, number>): WrittenSummary {
  return v.parse(
    SUMMARY,
    Object.fromEntries(
      FIELDS.map(([place, section, fields]) => [
        section,
        {
          ...Object.fromEntries(fields.map((field) => [field, numbers.get(`${place}.${field}`)])),
          timeSeconds: numbers.get(`${place}.time`),
        },
      ]),
    ),
  );
}

/** A sum or a difference of fields, as in `node.a + node.b`. */
function valueOf(text: string, numbers: ReadonlyMap<string, number>): number {
  const [first = '', ...rest] = text.split(' ');
  const at = (name: string) => numbers.get(name) ?? Number.NaN;
  return rest.length === 2 ? at(first) + (rest[0] === '-' ? -1 : 1) * at(rest[1] ?? '') : at(first);
}

const MET = v.strictObject({
  ...EVICTION_CASE,
  thresholds: v.array(THRESHOLD),
  enforceMinReclaim: v.boolean(),
  observations: v.record(v.string(), v.strictObject({ available: AMOUNT, capacity: v.optional(AMOUNT) })),
  expectMet: v.array(v.number()),
});

async function playMet(each: v.InferOutput<typeof MET>): Promise<readonly Difference[]> {
  const seen = observationsOf(each.observations, ({ available, capacity }) => ({
    available: numberOf(available),
    // Without a capacity every threshold of the case is an amount.
    capacity: capacity === undefined ? 0 : numberOf(capacity),
    at: null,
  }));
  const thresholds = each.thresholds.map(thresholdOf);
  // An inert entry is never made here.
  const live = thresholds.filter((_, index) => each.thresholds[index]?.operator !== '');
  const met = thresholdsBelow(live, seen, each.enforceMinReclaim ? 'target' : 'line', new LineBook());
  return compare(
    'expectMet',
    each.expectMet.toSorted(ascending),
    met.map((one) => thresholds.indexOf(one)).sort(ascending),
  );
}

function ascending(a: number, b: number): number {
  return a - b;
}

function observationsOf<Told>(
  told: Readonly<Record<string, Told>>,
  read: (told: Told) => Omit<Observation, 'signal'>,
): Observations {
  return new Map(
    Object.entries(told).map(([name, each]) => {
      const signal: Signal = v.parse(SIGNAL, name);
      return [signal, { signal, ...read(each) }];
    }),
  );
}

const STAMPS = v.record(v.string(), v.strictObject({ timeSeconds: v.nullable(v.number()) }));
const MOMENTS = v.array(v.strictObject({ threshold: THRESHOLD, atSeconds: v.number() }));
const TRACKING = v.variant('kind', [
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('updatedStats'),
    thresholds: v.array(THRESHOLD),
    observations: STAMPS,
    lastObservations: STAMPS,
    expect: v.array(v.number()),
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('firstObservedAt'),
    thresholds: v.array(THRESHOLD),
    lastObservedAtSeconds: MOMENTS,
    nowSeconds: v.number(),
    expectAtSeconds: MOMENTS,
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('gracePeriodMet'),
    observedAtSeconds: MOMENTS,
    nowSeconds: v.number(),
    expect: v.array(THRESHOLD),
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('merge'),
    first: v.array(THRESHOLD),
    second: v.array(THRESHOLD),
    expect: v.array(THRESHOLD),
  }),
]);

async function playTracking(each: v.InferOutput<typeof TRACKING>): Promise<readonly Difference[]> {
  switch (each.kind) {
    case 'updatedStats': {
      const stamped = ({ timeSeconds }: { timeSeconds: number | null }) => ({
        available: 0,
        capacity: 0,
        at: timeOf(timeSeconds),
      });
      const thresholds = each.thresholds.map(thresholdOf);
      const fresh = withFreshNumbers(
        thresholds,
        observationsOf(each.observations, stamped),
        observationsOf(each.lastObservations, stamped),
      );
      return compare(
        'expect',
        each.expect,
        fresh.map((one) => thresholds.indexOf(one)),
      );
    }
    case 'firstObservedAt': {
      const { known, idOf } = idsFor([
        ...each.thresholds,
        ...each.lastObservedAtSeconds.map(({ threshold }) => threshold),
      ]);
      const before = new Map(each.lastObservedAtSeconds.map((one) => [idOf(one.threshold), atSecond(one.atSeconds)]));
      const times = firstMetTimes(
        each.thresholds.map((one) => known(one)),
        before,
        atSecond(each.nowSeconds),
      );
      const expected = each.expectAtSeconds.map((one) => [idOf(one.threshold), one.atSeconds]);
      return compareAsSets(
        'expectAtSeconds',
        expected,
        [...times].map(([id, at]) => [id, at / 1_000]),
      );
    }
    case 'gracePeriodMet': {
      const { known, idOf } = idsFor(each.observedAtSeconds.map(({ threshold }) => threshold));
      const times = new Map(each.observedAtSeconds.map((one) => [idOf(one.threshold), atSecond(one.atSeconds)]));
      const due = pastGrace(
        each.observedAtSeconds.map(({ threshold }) => known(threshold)),
        times,
        atSecond(each.nowSeconds),
      );
      return compareAsSets(
        'expect',
        each.expect.map((one) => summaryOf(thresholdOf(one))),
        due.map(summaryOf),
      );
    }
    case 'merge': {
      const merged = mergeThresholds(each.first.map(thresholdOf), each.second.map(thresholdOf));
      return compareAsSets(
        'expect',
        each.expect.map((one) => summaryOf(thresholdOf(one))),
        merged.map(summaryOf),
      );
    }
  }
}

/** Thresholds that are written alike are one. */
function idsFor(written: readonly WrittenThreshold[]): {
  readonly known: (one: WrittenThreshold) => Threshold;
  readonly idOf: (one: WrittenThreshold) => string;
} {
  const made = new Map<string, Threshold>();
  const known = (one: WrittenThreshold): Threshold => {
    const key = JSON.stringify(one);
    const threshold = made.get(key) ?? thresholdOf(one, made.size);
    made.set(key, threshold);
    return threshold;
  };
  for (const one of written) known(one);
  return { known, idOf: (one) => known(one).id };
}

const CONDITIONS = v.array(CONDITION);
const CONDITION_TIMES = v.record(v.string(), v.number());
const NODE_CONDITIONS = v.variant('kind', [
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('fromThresholds'),
    signals: v.array(SIGNAL),
    expectConditions: CONDITIONS,
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('lastObservedAt'),
    conditions: CONDITIONS,
    lastObservedAtSeconds: CONDITION_TIMES,
    nowSeconds: v.number(),
    expectAtSeconds: CONDITION_TIMES,
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('observedSince'),
    observedAtSeconds: CONDITION_TIMES,
    periodSeconds: v.number(),
    nowSeconds: v.number(),
    expectConditions: CONDITIONS,
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('contains'),
    conditions: NAMES,
    item: v.string(),
    expect: v.boolean(),
  }),
]);

async function playConditions(each: v.InferOutput<typeof NODE_CONDITIONS>): Promise<readonly Difference[]> {
  switch (each.kind) {
    case 'fromThresholds':
      return compareAsSets('expectConditions', each.expectConditions, conditionsOf(each.signals.map(signalThreshold)));
    case 'lastObservedAt': {
      const times = conditionTimes(timesOf(each.lastObservedAtSeconds), each.conditions, atSecond(each.nowSeconds));
      const actual = Object.fromEntries([...times].map(([condition, at]) => [condition, at / 1_000]));
      return compare('expectAtSeconds', each.expectAtSeconds, actual);
    }
    case 'observedSince': {
      const reported = reportedConditions(
        timesOf(each.observedAtSeconds),
        milliseconds(each.periodSeconds * 1_000),
        atSecond(each.nowSeconds),
        kubelet.eviction.zeroTransition !== 'nothing',
      );
      return compareAsSets('expectConditions', each.expectConditions, reported);
    }
    case 'contains':
      return compare('expect', each.expect, hasCondition(each.conditions, each.item));
  }
}

function timesOf(seconds: Readonly<Record<string, number>>): ReadonlyMap<NodeCondition, ReturnType<typeof atSecond>> {
  return new Map(Object.entries(seconds).map(([condition, at]) => [v.parse(CONDITION, condition), atSecond(at)]));
}

function signalThreshold(signal: Signal, position: number): Threshold {
  const written = { signal, operator: 'LessThan', value: null, gracePeriodSeconds: 0, minReclaim: null } as const;
  return thresholdOf(written, position);
}

const ORDER = v.variant('kind', [
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('order'),
    signals: v.array(SIGNAL),
    expectOrder: v.array(SIGNAL),
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('firstReclaimable'),
    signals: v.array(SIGNAL),
    expectFound: v.boolean(),
    expectResource: v.optional(RESOURCE),
    expectSignal: v.optional(SIGNAL),
  }),
]);

async function playOrder(each: v.InferOutput<typeof ORDER>): Promise<readonly Difference[]> {
  const ordered = byUrgency(each.signals.map(signalThreshold)).map(({ signal }) => signal);
  if (each.kind === 'order') return compare('expectOrder', each.expectOrder, ordered);
  const [first] = ordered;
  return [
    ...compare('expectFound', each.expectFound, first !== undefined),
    ...(each.expectResource === undefined
      ? []
      : compare('expectResource', each.expectResource, first === undefined ? null : SIGNALS[first].resource)),
    ...(each.expectSignal === undefined ? [] : compare('expectSignal', each.expectSignal, first)),
  ];
}

export const FILES: PlayFiles = {
  'eviction-signal-catalogue': playFile(CATALOGUE, playCatalogue, {}),
  'eviction-observations': playFile(OBSERVATIONS, playObservations, {}),
  'golden-observations': playFile(OBSERVATIONS, playObservations, {}),
  'eviction-thresholds-met': playFile(MET, playMet, {}),
  'golden-thresholds-met': playFile(MET, playMet, {}),
  'eviction-tracking': playFile(TRACKING, playTracking, {}),
  'eviction-node-conditions': playFile(NODE_CONDITIONS, playConditions, {}),
  'eviction-threshold-order': playFile(ORDER, playOrder, {}),
};
