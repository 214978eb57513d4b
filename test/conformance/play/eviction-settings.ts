import * as v from 'valibot';
import { loadSettings } from '../../../src/config/load.js';
import type { Settings } from '../../../src/config/settings.js';
import { deriveContainerfs } from '../../../src/eviction/containerfs.js';
import { isSameThreshold } from '../../../src/eviction/evaluate.js';
import { FLAG_SIGNS, splitFlagMap } from '../../../src/eviction/flag-map.js';
import { limitText, parsePercentage } from '../../../src/eviction/limit-text.js';
import { lineOf } from '../../../src/eviction/line.js';
import type { Threshold } from '../../../src/eviction/threshold.js';
import { type EvictionTexts, parseThresholds, withAllocatableCopies } from '../../../src/eviction/threshold-text.js';
import { compare, type Difference, type PlayFiles, playFile } from '../case.js';
import {
  AMOUNT,
  EVICTION_CASE,
  LAYOUT,
  LIMIT,
  layoutOf,
  limitOf,
  NAMES,
  numberOf,
  summaryOf,
  THRESHOLD,
  thresholdOf,
} from './eviction-notation.js';

/** The code and a word of the rule that stand for each error of the cases. */
const ERRORS: Readonly<Record<string, readonly [code: string, rule: RegExp]>> = {
  'unsupported-signal': ['UNKNOWN_SIGNAL', /no signal/],
  'percent-syntax': ['BAD_PERCENT', /number/],
  'percent-below-zero': ['OUT_OF_RANGE', /at least 0%/],
  'percent-above-hundred': ['OUT_OF_RANGE', /at most 100%/],
  'not-positive': ['NOT_POSITIVE', /threshold must be positive/],
  'quantity-syntax': ['BAD_QUANTITY', /quantity/],
  'duration-syntax': ['BAD_DURATION', /duration/],
  'grace-negative': ['NEGATIVE_DURATION', /grace/],
  'reclaim-negative': ['NEGATIVE', /reclaim/],
  'reclaim-percent-not-positive': ['NOT_POSITIVE', /reclaim in percent/],
  'soft-grace-missing': ['SOFT_WITHOUT_GRACE', /evictionSoftGracePeriod/],
};
const MAPS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;
const TEXTS = v.record(v.string(), v.string());
const OUTCOME = {
  expectError: v.boolean(),
  errorKind: v.optional(v.string()),
  errorKinds: v.optional(NAMES),
  expectThresholds: v.optional(v.array(THRESHOLD)),
};

const PARSING = v.strictObject({
  ...EVICTION_CASE,
  ...OUTCOME,
  input: v.strictObject({
    enforceNodeAllocatable: NAMES,
    evictionHard: TEXTS,
    evictionSoft: TEXTS,
    evictionSoftGracePeriod: TEXTS,
    evictionMinimumReclaim: TEXTS,
  }),
});

async function playParsing({ input, ...outcome }: v.InferOutput<typeof PARSING>): Promise<readonly Difference[]> {
  const maps = Object.fromEntries(MAPS.map((map) => [map, new Map(Object.entries(input[map]))]));
  return compareParsed({ ...maps, enforceNodeAllocatable: input.enforceNodeAllocatable }, outcome);
}

type Outcome = Pick<v.InferOutput<typeof PARSING>, 'expectError' | 'errorKind' | 'errorKinds' | 'expectThresholds'>;

function compareParsed(texts: EvictionTexts, outcome: Outcome): readonly Difference[] {
  const { thresholds, problems } = parseThresholds(texts, 'kubelet');
  const [problem] = problems;
  if (!outcome.expectError) {
    const expected = (outcome.expectThresholds ?? []).map((each) => summaryOf(thresholdOf(each)));
    return [
      ...compare('problems', [], problems),
      // The kubelet makes them from maps, whose order is random.
      ...compare('expectThresholds', expected.sort(), thresholds.map(summaryOf).sort()),
    ];
  }
  if (problem === undefined) return [{ path: 'expectError', expected: true, actual: false }];
  const kinds = outcome.errorKinds ?? (outcome.errorKind === undefined ? null : [outcome.errorKind]);
  const told = Object.keys(ERRORS).filter(
    (kind) => ERRORS[kind]?.[0] === problem.code && ERRORS[kind]?.[1].test(problem.rule),
  );
  const isExpected = kinds === null || told.some((kind) => kinds.includes(kind));
  return isExpected ? compare('thresholds', [], thresholds) : [{ path: 'errorKind', expected: kinds, actual: told }];
}

const FLAGS = v.strictObject({
  ...EVICTION_CASE,
  ...OUTCOME,
  input: v.strictObject({
    evictionHard: v.string(),
    evictionSoft: v.string(),
    evictionSoftGracePeriod: v.string(),
    evictionMinimumReclaim: v.string(),
  }),
});

async function playFlags({ input, ...outcome }: v.InferOutput<typeof FLAGS>): Promise<readonly Difference[]> {
  const parts = MAPS.map((map) => splitFlagMap(input[map], FLAG_SIGNS[map]));
  if (parts.flat().some(({ kind }) => kind === 'malformed') || outcome.errorKind === 'flag-syntax') {
    const actual = parts.flat().some(({ kind }) => kind === 'malformed') ? 'flag-syntax' : null;
    return compare('errorKind', outcome.errorKind, actual);
  }
  const maps = MAPS.map((map, index) => {
    const entries = (parts[index] ?? []).flatMap((part) =>
      part.kind === 'entry' ? [[part.signal, part.value] as const] : [],
    );
    return [map, new Map(entries)] as const;
  });
  return compareParsed(Object.fromEntries(maps), outcome);
}

const VALUES = v.variant('kind', [
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('parsePercent'),
    input: v.string(),
    expectError: v.boolean(),
    expectFraction: v.optional(v.number()),
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('valueEquality'),
    left: LIMIT,
    right: LIMIT,
    expectEqual: v.boolean(),
    symmetric: v.boolean(),
  }),
  v.strictObject({
    ...EVICTION_CASE,
    kind: v.literal('resolveAgainstCapacity'),
    value: LIMIT,
    capacity: AMOUNT,
    expectQuantity: AMOUNT,
    toleranceUnits: v.number(),
  }),
]);

async function playValue(each: v.InferOutput<typeof VALUES>): Promise<readonly Difference[]> {
  switch (each.kind) {
    case 'parsePercent': {
      const fraction = parsePercentage(each.input);
      if (each.expectError || fraction === null) return compare('expectError', each.expectError, fraction === null);
      return near('expectFraction', each.expectFraction ?? Number.NaN, fraction, 1e-6);
    }
    case 'valueEquality': {
      const threshold = (limit: v.InferOutput<typeof LIMIT>): Threshold => ({ ...PLAIN, limit: limitOf(limit) });
      const [left, right] = [threshold(each.left), threshold(each.right)];
      return [
        ...compare('expectEqual', each.expectEqual, isSameThreshold(left, right)),
        ...(each.symmetric ? compare('symmetric', each.expectEqual, isSameThreshold(right, left)) : []),
      ];
    }
    case 'resolveAgainstCapacity': {
      const { line } = lineOf({ limit: limitOf(each.value), minReclaim: null }, numberOf(each.capacity));
      return near('expectQuantity', numberOf(each.expectQuantity), line, each.toleranceUnits);
    }
  }
}

const PLAIN = thresholdOf({
  signal: 'nodefs.available',
  operator: 'LessThan',
  value: null,
  gracePeriodSeconds: 0,
  minReclaim: null,
});

function near(path: string, expected: number, actual: number, tolerance: number): readonly Difference[] {
  return Math.abs(expected - actual) <= tolerance ? [] : [{ path, expected, actual }];
}

const COPIES = v.strictObject({
  ...EVICTION_CASE,
  thresholds: v.array(THRESHOLD),
  expectThresholds: v.array(THRESHOLD),
  orderSignificant: v.boolean(),
});

async function playCopies(each: v.InferOutput<typeof COPIES>): Promise<readonly Difference[]> {
  const expected = each.expectThresholds.map((one) => summaryOf(thresholdOf(one)));
  const actual = withAllocatableCopies(each.thresholds.map(thresholdOf)).map(summaryOf);
  const inOrder = (texts: readonly string[]) => (each.orderSignificant ? texts : texts.toSorted());
  return compare('expectThresholds', inOrder(expected), inOrder(actual));
}

const CONTAINERFS = v.strictObject({
  ...EVICTION_CASE,
  layout: LAYOUT,
  thresholds: v.array(THRESHOLD),
  expectContainerFs: v.strictObject({
    availableHard: v.nullable(THRESHOLD),
    availableSoft: v.nullable(THRESHOLD),
    inodesHard: v.nullable(THRESHOLD),
    inodesSoft: v.nullable(THRESHOLD),
  }),
  expectConflictWarning: v.boolean(),
});

async function playContainerfs(each: v.InferOutput<typeof CONTAINERFS>): Promise<readonly Difference[]> {
  const { layout, quirk } = layoutOf(each.layout);
  const configured = each.thresholds.map(thresholdOf);
  const derived = quirk === null ? deriveContainerfs(configured, layout) : { thresholds: configured, replaced: [] };
  const found = (part: 'available' | 'inodesFree', kind: 'hard' | 'soft') => {
    const threshold = derived.thresholds.find(
      ({ signal, urgency }) => signal === `containerfs.${part}` && urgency.kind === kind,
    );
    return threshold === undefined ? null : summaryOf(threshold);
  };
  const { availableHard, availableSoft, inodesHard, inodesSoft } = each.expectContainerFs;
  // An inert entry is never met: there is none here.
  const expected = [availableHard, availableSoft, inodesHard, inodesSoft].map((one) =>
    one === null || one.operator === '' ? null : summaryOf(thresholdOf(one)),
  );
  return [
    ...compare('expectContainerFs', expected, [
      found('available', 'hard'),
      found('available', 'soft'),
      found('inodesFree', 'hard'),
      found('inodesFree', 'soft'),
    ]),
    ...compare('expectConflictWarning', each.expectConflictWarning, derived.replaced.length > 0),
  ];
}

const DEFAULTS = v.strictObject({
  ...EVICTION_CASE,
  evictionHardInFile: v.optional(v.nullable(TEXTS)),
  mergeDefaultEvictionSettings: v.optional(v.boolean()),
  evictionHardInDropIn: v.optional(v.nullable(TEXTS)),
  transitionPeriodInFileSeconds: v.optional(v.number()),
  expectEvictionHard: v.optional(TEXTS),
  expectTransitionPeriodSeconds: v.optional(v.number()),
  expectDefaults: v.optional(
    v.strictObject({
      evictionSoft: TEXTS,
      evictionSoftGracePeriod: TEXTS,
      evictionMinimumReclaim: TEXTS,
      evictionPressureTransitionPeriodSeconds: v.number(),
      evictionMaxPodGracePeriodSeconds: v.number(),
      mergeDefaultEvictionSettings: v.boolean(),
      enforceNodeAllocatable: NAMES,
      kernelMemcgNotification: v.boolean(),
      localStorageCapacityIsolation: v.boolean(),
      imageMinimumGCAgeSeconds: v.number(),
      imageMaximumGCAgeSeconds: v.number(),
      imageGCHighThresholdPercent: v.number(),
      imageGCLowThresholdPercent: v.number(),
      /** Of the kubelet's volume statistics and of its node status, neither of which is here. */
      volumeStatsAggPeriodSeconds: v.number(),
      nodeStatusUpdateFrequencySeconds: v.number(),
    }),
  ),
});

async function playDefaults(each: v.InferOutput<typeof DEFAULTS>): Promise<readonly Difference[]> {
  const { evictionHardInFile, mergeDefaultEvictionSettings, transitionPeriodInFileSeconds } = each;
  const file = {
    evictionHard: evictionHardInFile,
    mergeDefaultEvictionSettings,
    evictionPressureTransitionPeriod:
      transitionPeriodInFileSeconds === undefined ? undefined : `${transitionPeriodInFileSeconds}s`,
  };
  const dropIn = { path: 'd.conf', text: JSON.stringify({ evictionHard: each.evictionHardInDropIn }) };
  const loaded = loadSettings({
    // JSON is YAML, and leaves out what is not defined.
    kubeletConfig: { path: 'kubelet.yaml', text: JSON.stringify(file) },
    kubeletDropIns: each.evictionHardInDropIn === undefined ? [] : [dropIn],
    flags: [{ name: '--profile', value: 'kubelet' }],
  });
  if (loaded.kind !== 'loaded') return compare('problems', [], loaded.problems);
  const { settings } = loaded;
  // A signal that is switched off gives no threshold.
  const effective = Object.entries(each.expectEvictionHard ?? {}).filter(([, limit]) => limit !== '0%');
  return [
    ...(each.expectEvictionHard === undefined
      ? []
      : compare('expectEvictionHard', Object.fromEntries(effective), hardOf(settings))),
    ...(each.expectTransitionPeriodSeconds === undefined
      ? []
      : compare(
          'expectTransitionPeriodSeconds',
          each.expectTransitionPeriodSeconds,
          settings.pressureTransitionPeriod / 1_000,
        )),
    ...(each.expectDefaults === undefined ? [] : compareDefaults(each.expectDefaults, settings)),
  ];
}

function compareDefaults(
  {
    volumeStatsAggPeriodSeconds,
    nodeStatusUpdateFrequencySeconds,
    ...expected
  }: NonNullable<v.InferOutput<typeof DEFAULTS>['expectDefaults']>,
  settings: Settings,
): readonly Difference[] {
  const soft = settings.thresholds.filter(({ urgency }) => urgency.kind === 'soft');
  const reclaimed = settings.thresholds.filter(({ minReclaim }) => minReclaim !== null);
  const bySignal = (thresholds: readonly Threshold[]) =>
    Object.fromEntries(thresholds.map(({ signal, limit }) => [signal, limitText(limit)]));
  return [
    ...compare('expectDefaults', expected, {
      evictionSoft: bySignal(soft),
      evictionSoftGracePeriod: bySignal(soft),
      evictionMinimumReclaim: bySignal(reclaimed),
      evictionPressureTransitionPeriodSeconds: settings.pressureTransitionPeriod / 1_000,
      evictionMaxPodGracePeriodSeconds: (settings.maxPodGracePeriod ?? Number.NaN) / 1_000,
      mergeDefaultEvictionSettings: settings.mergeDefaultEvictionSettings,
      enforceNodeAllocatable: [...settings.enforceNodeAllocatable],
      kernelMemcgNotification: settings.kernelMemcgNotification,
      localStorageCapacityIsolation: settings.localStorageCapacityIsolation,
      imageMinimumGCAgeSeconds: settings.imageMinimumGCAge / 1_000,
      imageMaximumGCAgeSeconds: (settings.imageMaximumGCAge ?? 0) / 1_000,
      imageGCHighThresholdPercent: settings.imageGCHighThresholdPercent,
      imageGCLowThresholdPercent: settings.imageGCLowThresholdPercent,
    }),
    // There are no settings for these two.
    ...compare('kubelet only', [60, 10], [volumeStatsAggPeriodSeconds, nodeStatusUpdateFrequencySeconds]),
  ];
}

function hardOf(settings: Settings): Readonly<Record<string, string>> {
  const hard = settings.thresholds.filter(({ id, urgency }) => urgency.kind === 'hard' && !id.includes('/of/'));
  return Object.fromEntries(hard.map(({ signal, limit }) => [signal, limitText(limit)]));
}

export const FILES: PlayFiles = {
  'eviction-threshold-parsing': playFile(PARSING, playParsing, {}),
  'golden-parse': playFile(PARSING, playParsing, {}),
  'eviction-flag-text': playFile(FLAGS, playFlags, {}),
  'eviction-values': playFile(VALUES, playValue, {}),
  'eviction-allocatable-copy': playFile(COPIES, playCopies, {}),
  'eviction-containerfs-thresholds': playFile(CONTAINERFS, playContainerfs, {}),
  'eviction-settings-defaults': playFile(DEFAULTS, playDefaults, {}),
};
