import * as v from 'valibot';
import { COUNT, LAYOUT, SIGNAL, SIGNAL_TEXTS, TEXT } from './common.js';
import { CODE, EXPECTATION } from './expectations.js';
import { STEP } from './steps.js';

const FLAGS = v.pipe(v.array(v.pipe(v.string(), v.regex(/^--/))), v.minLength(1));
const VERDICT = v.picklist(['accept', 'accept+warn', 'reject']);

const VARIANT = v.pipe(
  v.strictObject({ name: TEXT, yaml: v.optional(v.string()), flags: v.optional(FLAGS), kubelet: VERDICT }),
  v.check(({ yaml, flags }) => yaml !== undefined || flags !== undefined, 'yaml or flags'),
);

const RAW_CONFIG = v.pipe(
  v.strictObject({
    yaml: v.optional(v.string()),
    flags: v.optional(FLAGS),
    variants: v.optional(v.array(VARIANT)),
    layout: v.optional(LAYOUT),
  }),
  v.check(
    ({ yaml, flags, variants }) => (variants === undefined) === (yaml !== undefined || flags !== undefined),
    'either variants, or yaml and flags',
  ),
);

const RESOLVED_CONFIG = v.strictObject({
  layout: LAYOUT,
  evictionHard: v.optional(SIGNAL_TEXTS, {}),
  evictionSoft: v.optional(SIGNAL_TEXTS, {}),
  evictionSoftGracePeriod: v.optional(v.record(SIGNAL, v.string()), {}),
  evictionMinimumReclaim: v.optional(SIGNAL_TEXTS, {}),
  evictionPressureTransitionPeriod: v.optional(v.string()),
  evictionMaxPodGracePeriod: v.optional(v.pipe(v.number(), v.integer())),
  imageGCHighThresholdPercent: v.optional(v.number()),
  imageGCLowThresholdPercent: v.optional(v.number()),
  imageMinimumGCAge: v.optional(v.string()),
  imageMaximumGCAge: v.optional(v.string()),
  runtimeRequestTimeout: v.optional(v.string()),
  containerGC: v.optional(
    v.strictObject({
      minAge: v.optional(v.string()),
      maxPerPodContainer: v.optional(v.pipe(v.number(), v.integer(), v.minValue(-1))),
      maxContainers: v.optional(v.pipe(v.number(), v.integer(), v.minValue(-1))),
    }),
    {},
  ),
  sandboxImage: v.optional(TEXT),
  protectedImages: v.optional(v.array(TEXT), []),
  maxRemovalsPerPass: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  ballast: v.optional(TEXT),
  logCleanup: v.optional(v.boolean()),
  rootDir: v.optional(v.pipe(v.string(), v.regex(/^\//))),
});

const ROW = v.strictObject({
  in: v.string(),
  kubelet: v.picklist(['ok', 'ignored', 'error']),
  product: v.picklist(['ok', 'warn', 'reject']),
  code: v.optional(CODE),
  hint: v.optional(v.union([TEXT, v.array(TEXT)])),
  advice: v.optional(v.string()),
  note: v.optional(v.string()),
  disabled: v.optional(v.literal(true)),
  ns: v.optional(COUNT),
  value: v.optional(v.number()),
  map: v.optional(v.record(v.string(), v.string())),
  fraction: v.optional(v.union([v.number(), v.literal('NaN')])),
  of100Gi: v.optional(COUNT),
  valueRoundedUp: v.optional(v.pipe(v.string(), v.regex(/^[0-9]+$/))),
  canonical: v.optional(v.string()),
  kubeletError: v.optional(v.string()),
});

const ARITHMETIC_ROW = v.union([
  v.strictObject({
    percent: v.number(),
    capacity: COUNT,
    threshold: COUNT,
    capacityFrom: v.optional(v.string()),
    source: v.optional(v.string()),
  }),
  v.strictObject({
    check: v.literal('strictness'),
    percent: v.number(),
    capacity: COUNT,
    available: COUNT,
    met: v.boolean(),
  }),
]);

const HEAD = {
  id: v.pipe(v.string(), v.regex(/^[0-9]{2}-[a-z0-9-]+$/)),
  title: TEXT,
  fault: v.picklist([
    'config',
    'image-gc',
    'container-gc',
    'eviction-loop',
    'filesystem-detection',
    'runtime-failure',
    'logs-and-leftovers',
  ]),
  source: v.array(TEXT),
  numbers: v.picklist(['real', 'partly', 'derived']),
  why: TEXT,
};

const CONFIG_FILE = v.strictObject({
  ...HEAD,
  kind: v.literal('config'),
  kubelet: v.strictObject({ verdict: v.union([VERDICT, v.literal('variants')]), detail: TEXT }),
  config: RAW_CONFIG,
  steps: v.array(STEP),
  expect: v.pipe(v.array(EXPECTATION), v.minLength(1)),
});

const RUNTIME_FILE = v.strictObject({
  ...HEAD,
  kind: v.literal('runtime'),
  kubelet: TEXT,
  config: RESOLVED_CONFIG,
  steps: v.pipe(v.array(STEP), v.minLength(1)),
  expect: v.pipe(v.array(EXPECTATION), v.minLength(1)),
});

const TABLE_HEAD = {
  ...HEAD,
  kind: v.literal('config-table'),
  kubelet: v.strictObject({ verdict: v.literal('table'), detail: TEXT }),
};

/** How `in` of a row is put into a configuration. */
const ROWS_ARE = v.picklist([
  'evictionHard[nodefs.available]',
  'evictionSoftGracePeriod[nodefs.available]',
  '--eviction-hard',
  'flag',
  'yaml',
]);

const TABLE_FILE = v.strictObject({ ...TABLE_HEAD, rowsAre: ROWS_ARE, rows: v.pipe(v.array(ROW), v.minLength(1)) });
const ARITHMETIC_FILE = v.strictObject({
  ...TABLE_HEAD,
  rowsAre: v.literal('percent of capacity'),
  rows: v.pipe(v.array(ARITHMETIC_ROW), v.minLength(1)),
});

/** A file, read by its kind, so that what is wrong with it is told by its own schema and not by all. */
export const SCENARIO = v.lazy((input) => {
  const is = (key: string, value: string) =>
    typeof input === 'object' && input !== null && (input as Record<string, unknown>)[key] === value;
  if (is('kind', 'config')) return CONFIG_FILE;
  if (is('kind', 'runtime')) return RUNTIME_FILE;
  if (is('rowsAre', 'percent of capacity')) return ARITHMETIC_FILE;
  return TABLE_FILE;
});

export type ConfigScenario = v.InferOutput<typeof CONFIG_FILE>;
export type RuntimeScenario = v.InferOutput<typeof RUNTIME_FILE>;
export type TableScenario = v.InferOutput<typeof TABLE_FILE>;
export type ArithmeticScenario = v.InferOutput<typeof ARITHMETIC_FILE>;
export type Scenario = ConfigScenario | RuntimeScenario | TableScenario | ArithmeticScenario;
export type ResolvedConfig = RuntimeScenario['config'];
export type Row = TableScenario['rows'][number];
