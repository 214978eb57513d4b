import * as v from 'valibot';
import { admit } from '../../../src/eviction/admission.js';
import { HARD_GRACE_SECONDS } from '../../../src/eviction/kubelet-quirks.js';
import { storageViolation } from '../../../src/eviction/local-storage.js';
import { describeNotifier } from '../../../src/eviction/memory-notifier.js';
import { evictionMessageData } from '../../../src/eviction/message-data.js';
import type { Observations } from '../../../src/eviction/observe.js';
import { podRequest } from '../../../src/eviction/pod-resources.js';
import type { Amounts, PodSpec } from '../../../src/eviction/pod-spec.js';
import {
  diskUsage,
  type MeasuredPart,
  measuredParts,
  type PodStats,
  usageOf,
} from '../../../src/eviction/pod-stats.js';
import { POLICIES } from '../../../src/eviction/policy.js';
import { type Candidate, type ComparatorName, RANKING, rankPods, rankPodsBy } from '../../../src/eviction/rank.js';
import { type Resource, SIGNALS, type Signal } from '../../../src/eviction/signal.js';
import { reclaimSteps } from '../../../src/eviction/steps.js';
import { whyCritical } from '../../../src/eviction/victim.js';
import { MemoryNotifier, type MemoryWatch } from '../../../src/manager/memory-notifier.js';
import { compare, compareAsSets, type Difference, type PlayFiles, playFile } from '../case.js';
import {
  AMOUNT,
  CONDITION,
  EVICTION_CASE,
  LAYOUT,
  layoutOf,
  NAMES,
  numberOf,
  quantityOf,
  RESOURCE,
  SIGNAL,
  THRESHOLD,
  thresholdOf,
} from './eviction-notation.js';
import { type CasePod, casePod, NAMELESS_POD, newcomerOf, POD } from './eviction-pod.js';

const { kubelet } = POLICIES;

const COMPARATOR = v.picklist([
  'exceedsMemoryRequest',
  'exceedsDiskRequest',
  'priority',
  'memoryAboveRequest',
  'diskAboveRequest',
  'processCount',
]);
const PART = v.picklist(['images', 'rootfs', 'logs', 'localVolumes']);

/** The product's comparators are the same for every resource; the cases name them by resource. */
const NAMED = {
  memory: { exceedsRequest: 'exceedsMemoryRequest', priority: 'priority', aboveRequest: 'memoryAboveRequest' },
  'ephemeral-storage': { exceedsRequest: 'exceedsDiskRequest', priority: 'priority', aboveRequest: 'diskAboveRequest' },
  inodes: { exceedsRequest: 'exceedsDiskRequest', priority: 'priority', aboveRequest: 'diskAboveRequest' },
  pids: { exceedsRequest: 'processCount', priority: 'priority', aboveRequest: 'processCount' },
} as const satisfies Record<Resource, Record<ComparatorName, v.InferOutput<typeof COMPARATOR>>>;

const PLAN = v.strictObject({
  ...EVICTION_CASE,
  layout: LAYOUT,
  signal: SIGNAL,
  resource: RESOURCE,
  nodeReclaim: v.array(v.picklist(['containers', 'images'])),
  comparators: v.array(COMPARATOR),
  measure: v.array(PART),
});

async function playPlan(each: v.InferOutput<typeof PLAN>): Promise<readonly Difference[]> {
  const { layout } = layoutOf(each.layout);
  const { resource } = SIGNALS[each.signal];
  const names: readonly ComparatorName[] = RANKING[resource];
  return [
    ...compare('resource', each.resource, resource),
    ...compare('nodeReclaim', each.nodeReclaim, [...reclaimSteps(each.signal, layout, kubelet)]),
    ...compare(
      'comparators',
      each.comparators,
      names.map((name) => NAMED[resource][name]),
    ),
    // A sum has no order.
    ...compareAsSets('measure', each.measure, measuredParts(each.signal, layout)),
  ];
}

const RANKED = v.strictObject({
  ...EVICTION_CASE,
  comparators: v.array(COMPARATOR),
  pods: v.array(POD),
  measure: v.optional(v.array(PART), []),
  resource: v.optional(v.picklist(['ephemeral-storage', 'inodes'])),
  expectOrder: NAMES,
});

async function playRanked(each: v.InferOutput<typeof RANKED>): Promise<readonly Difference[]> {
  const signal = signalFor(each.comparators, each.resource);
  const { resource } = SIGNALS[signal];
  const table: Readonly<Record<ComparatorName, string>> = NAMED[resource];
  const names = each.comparators.map((wanted) => nameOf(table, wanted));
  const unit = resource === 'inodes' ? 'inodes' : 'bytes';
  const candidates = each.pods.map((written) => {
    const pod = casePod(written, unit);
    const isDisk = SIGNALS[signal].filesystem !== null;
    return candidateOf(pod, signal, (stats) =>
      isDisk
        ? usageOfParts(pod, stats, each.measure, unit)
        : usageOf(stats, signal, 'one-disk', (name) => pod.isLocal(name)),
    );
  });
  return compare(
    'expectOrder',
    each.expectOrder,
    rankPodsBy(names, candidates, signal, kubelet).map(({ label }) => label),
  );
}

/** The order of the entries matters: for processes two names of the product stand for one of the cases. */
function nameOf(table: Readonly<Record<ComparatorName, string>>, wanted: string): ComparatorName {
  const found = (['priority', 'aboveRequest', 'exceedsRequest'] as const).find((name) => table[name] === wanted);
  if (found === undefined) throw new Error(`Cannot rank as nothing here compares by it: ${wanted}`);
  return found;
}

function signalFor(comparators: readonly string[], resource: 'ephemeral-storage' | 'inodes' | undefined): Signal {
  if (resource !== undefined) return resource === 'inodes' ? 'nodefs.inodesFree' : 'nodefs.available';
  return comparators.includes('processCount') ? 'pid.available' : 'memory.available';
}

function usageOfParts(pod: CasePod, stats: PodStats, parts: readonly MeasuredPart[], unit: 'bytes' | 'inodes'): number {
  return diskUsage(stats, parts, unit, (name) => pod.isLocal(name));
}

function candidateOf({ record, stats }: CasePod, signal: Signal, usage: (stats: PodStats) => number): Candidate {
  const resource = SIGNALS[signal].resource === 'memory' ? 'memory' : 'ephemeral-storage';
  return {
    uid: record.uid,
    label: record.name,
    priority: record.priority,
    usage: stats === null ? null : usage(stats),
    request: podRequest(record.spec, resource),
    protectedBy: whyCritical(record),
  };
}

const GOLDEN_RANKED = v.strictObject({
  ...EVICTION_CASE,
  layout: LAYOUT,
  signal: SIGNAL,
  pods: v.array(POD),
  expectOrder: NAMES,
  /** Pods that compare equal; their order in the list is kept. */
  ties: v.optional(v.array(NAMES)),
});

async function playGoldenRanked(each: v.InferOutput<typeof GOLDEN_RANKED>): Promise<readonly Difference[]> {
  const { layout } = layoutOf(each.layout);
  const candidates = each.pods.map((written) => {
    const pod = casePod(written);
    return candidateOf(pod, each.signal, (stats) => usageOf(stats, each.signal, layout, (name) => pod.isLocal(name)));
  });
  return compare(
    'expectOrder',
    each.expectOrder,
    rankPods(candidates, each.signal, kubelet).map(({ label }) => label),
  );
}

const LOCAL = v.strictObject({
  ...EVICTION_CASE,
  layout: LAYOUT,
  pods: v.array(POD),
  expectEvicted: v.array(
    v.strictObject({
      pod: v.string(),
      cause: v.picklist(['emptyDirLimit', 'podLimit', 'containerLimit']),
      gracePeriodSeconds: v.number(),
      subject: v.optional(v.string()),
    }),
  ),
});

async function playLocal(each: v.InferOutput<typeof LOCAL>): Promise<readonly Difference[]> {
  const { layout } = layoutOf(each.layout);
  const evicted = each.pods.flatMap((written) => {
    const { record, stats } = casePod(written);
    const violation = stats === null ? null : storageViolation(record.spec, stats, layout, 'layer-beside-logs-alone');
    if (violation === null || whyCritical(record) !== null) return [];
    const { kind, subject } = violation;
    const gracePeriodSeconds = HARD_GRACE_SECONDS;
    return [{ pod: record.name, cause: kind, gracePeriodSeconds, subject: subject ?? undefined }];
  });
  return compare('expectEvicted', each.expectEvicted, evicted);
}

const MESSAGE = v.strictObject({
  ...EVICTION_CASE,
  starvedResource: RESOURCE,
  pod: v.strictObject({
    name: v.optional(v.string(), 'pod'),
    podRequest: v.optional(AMOUNT),
    podLimit: v.optional(AMOUNT),
    podUsage: v.optional(AMOUNT),
    noStats: v.optional(v.literal(true)),
    containers: v.array(
      v.strictObject({
        name: v.string(),
        kind: v.picklist(['regular', 'init', 'sidecar', 'ephemeral']),
        request: v.nullable(AMOUNT),
        /** Of what is starved; for storage the layer and the logs together. */
        usage: v.optional(v.nullable(AMOUNT), null),
        rootfs: v.optional(v.nullable(AMOUNT), null),
        logs: v.optional(v.nullable(AMOUNT), null),
      }),
    ),
  }),
  thresholds: v.array(THRESHOLD),
  observations: v.record(v.string(), v.strictObject({ available: AMOUNT, capacity: AMOUNT })),
  expect: v.strictObject({
    offenders: v.array(v.strictObject({ container: v.string(), usage: v.string(), request: v.string() })),
    annotations: v.optional(v.record(v.string(), v.string())),
    thresholdLine: v.nullable(v.strictObject({ quantity: v.string(), available: v.string() })),
    podPart: v.optional(v.strictObject({ usage: v.string(), request: v.string() })),
  }),
});
type Message = v.InferOutput<typeof MESSAGE>;

async function playMessage(each: Message): Promise<readonly Difference[]> {
  const { pod, expect } = each;
  const told = { name: pod.name, spec: messageSpec(each), stats: pod.noStats === true ? null : messageStats(each) };
  const data = evictionMessageData(each.starvedResource, told, each.thresholds.map(thresholdOf), seenIn(each));
  const part = data.pod === null ? undefined : { usage: data.pod.usage, request: data.pod.request };
  return [
    ...compare('starvedResource', each.starvedResource, data.starvedResource),
    ...compare(
      'expect.offenders',
      expect.offenders,
      data.containers.map(({ name, usage, request }) => ({ container: name, usage, request })),
    ),
    ...compare('expect.thresholdLine', expect.thresholdLine, data.thresholdLine),
    ...compare('expect.podPart', expect.podPart, part),
    ...(expect.annotations === undefined ? [] : compare('expect.annotations', expect.annotations, data.annotations)),
  ];
}

function messageSpec({ pod, starvedResource }: Message): PodSpec {
  const amounts = (name: string, amount: string | number | null | undefined): Amounts =>
    amount === null || amount === undefined ? {} : { [name]: quantityOf(amount) };
  return {
    containers: pod.containers.map(({ name, kind, request }) => ({
      name,
      kind,
      requests: amounts(starvedResource, request),
      limits: {},
    })),
    podRequests: amounts('memory', pod.podRequest),
    podLimits: amounts('memory', pod.podLimit),
    overhead: {},
    volumes: [],
    tolerations: [],
  };
}

function messageStats({ pod, starvedResource }: Message): PodStats {
  const number = (amount: string | number | null | undefined) =>
    amount === null || amount === undefined ? null : numberOf(amount);
  const isDisk = starvedResource === 'ephemeral-storage';
  return {
    memoryWorkingSet: number(pod.podUsage),
    processes: null,
    ephemeralStorage: null,
    containers: pod.containers.map(({ name, usage, rootfs, logs }) => ({
      name,
      memoryWorkingSet: isDisk ? null : number(usage),
      rootfs: { bytes: number(rootfs ?? (isDisk ? usage : null)), inodes: null },
      logs: { bytes: isDisk && usage !== null ? 0 : number(logs), inodes: null },
    })),
    volumes: [],
  };
}

function seenIn({ observations }: Message): Observations {
  return new Map(
    Object.entries(observations).map(([name, { available, capacity }]) => {
      const signal = v.parse(SIGNAL, name);
      return [signal, { signal, available: numberOf(available), capacity: numberOf(capacity), at: null }];
    }),
  );
}

const ADMISSION = v.strictObject({
  ...EVICTION_CASE,
  nodeConditions: v.array(CONDITION),
  pod: NAMELESS_POD,
  expectAdmit: v.boolean(),
});

async function playAdmission(each: v.InferOutput<typeof ADMISSION>): Promise<readonly Difference[]> {
  const answer = admit(newcomerOf(each.pod), each.nodeConditions);
  const expected = each.expectAdmit
    ? { admitted: true }
    : { admitted: false, reason: 'Evicted', conditions: each.nodeConditions };
  return compare('expectAdmit', expected, answer);
}

const NOTIFIER = v.variant('kind', [
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('arm'),
    stats: v.strictObject({
      availableBytes: v.optional(AMOUNT),
      workingSetBytes: v.optional(AMOUNT),
      usageBytes: v.optional(AMOUNT),
    }),
    scope: v.picklist(['node', 'pods']),
    threshold: THRESHOLD,
    expectUsageThreshold: v.optional(AMOUNT),
    factoryFails: v.optional(v.boolean(), false),
    expectError: v.boolean(),
  }),
  v.strictObject({ ...EVICTION_CASE, kind: v.literal('run'), events: v.number(), expectHandlerCalls: v.number() }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('describe'),
    threshold: THRESHOLD,
    expectWords: NAMES,
    expectNoWords: NAMES,
  }),
]);

const NOBODY = { available: null, workingSet: null, usage: null };

async function playNotifier(each: v.InferOutput<typeof NOTIFIER>): Promise<readonly Difference[]> {
  switch (each.kind) {
    case 'arm': {
      const asked: number[] = [];
      const notifier = new MemoryNotifier(thresholdOf(each.threshold), {
        watch: (_, usage) => {
          asked.push(usage);
          if (each.factoryFails) throw new Error('Cannot watch as the kernel refuses');
          return watchOf(0);
        },
        wake: () => undefined,
      });
      const { availableBytes, workingSetBytes, usageBytes } = each.stats;
      const told = (amount: string | number | undefined) => (amount === undefined ? null : numberOf(amount));
      const use = { available: told(availableBytes), workingSet: told(workingSetBytes), usage: told(usageBytes) };
      let failed = false;
      try {
        // Whose memory it is must not be mixed up: there are no numbers of the other scope.
        notifier.update({ node: NOBODY, pods: NOBODY, [each.scope]: use });
      } catch {
        failed = true;
      }
      const expected = each.expectUsageThreshold === undefined ? [] : [numberOf(each.expectUsageThreshold)];
      return [...compare('expectError', each.expectError, failed), ...compare('expectUsageThreshold', expected, asked)];
    }
    case 'run': {
      let calls = 0;
      const threshold = thresholdOf({ ...HARD_MEMORY });
      const notifier = new MemoryNotifier(threshold, { watch: () => watchOf(each.events), wake: () => (calls += 1) });
      notifier.update({ node: { available: 4, workingSet: 1, usage: 2 }, pods: NOBODY });
      await notifier.done;
      return compare('expectHandlerCalls', each.expectHandlerCalls, calls);
    }
    case 'describe': {
      const words = describeNotifier(thresholdOf(each.threshold)).split(' ');
      const wrong = [
        ...each.expectWords.filter((word) => !words.includes(word)),
        ...each.expectNoWords.filter((word) => words.includes(word)),
      ];
      return compare('expectWords', [], wrong);
    }
  }
}

const HARD_MEMORY = {
  signal: 'memory.available',
  operator: 'LessThan',
  value: { quantity: '1' },
  gracePeriodSeconds: 0,
  minReclaim: null,
} as const;

function watchOf(events: number): MemoryWatch {
  return {
    events: (async function* () {
      for (let event = 0; event < events; event += 1) yield event;
    })(),
    stop: () => undefined,
  };
}

export const FILES: PlayFiles = {
  'eviction-layout-plan': playFile(PLAN, playPlan, {}),
  'eviction-ranking': playFile(RANKED, playRanked, {}),
  'golden-ranking': playFile(GOLDEN_RANKED, playGoldenRanked, {}),
  'eviction-local-storage': playFile(LOCAL, playLocal, {}),
  'golden-local-storage': playFile(LOCAL, playLocal, {}),
  'eviction-message-data': playFile(MESSAGE, playMessage, {}),
  'eviction-admission': playFile(ADMISSION, playAdmission, {}),
  'eviction-memory-notifier': playFile(NOTIFIER, playNotifier, {}),
};
