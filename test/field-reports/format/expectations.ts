import * as v from 'valibot';
import { CODES } from './codes.js';
import { COUNT, DURATION, LAYOUT, POD_NAME, RANGE, SIGNAL, TEXT } from './common.js';
import { CALL } from './steps.js';

export const CODE = v.picklist(CODES);

const THRESHOLD = v.strictObject({
  signal: SIGNAL,
  value: TEXT,
  kind: v.picklist(['hard', 'soft']),
  grace: v.optional(DURATION),
  minReclaim: v.optional(TEXT),
});

const PROBLEM = v.strictObject({
  severity: v.picklist(['error', 'warning']),
  code: CODE,
  path: v.string(),
  mustMention: v.array(TEXT),
});

const CONFIG_RESULT = v.strictObject({
  verdict: v.picklist(['accept', 'accept+warn', 'reject']),
  thresholds: v.optional(v.array(THRESHOLD)),
  settings: v.optional(
    v.strictObject({
      evictionPressureTransitionPeriod: v.optional(DURATION),
      imageMinimumGCAge: v.optional(DURATION),
      imageMaximumGCAge: v.optional(DURATION),
      imageGCHighThresholdPercent: v.optional(v.number()),
      imageGCLowThresholdPercent: v.optional(v.number()),
      evictionMaxPodGracePeriod: v.optional(v.number()),
    }),
  ),
  target: v.optional(v.record(SIGNAL, COUNT)),
  problems: v.optional(v.array(PROBLEM)),
});

const CALL_KIND = v.picklist([
  'RemoveContainer',
  'RemovePodSandbox',
  'RemoveImage',
  'EvictPod',
  'ReleaseBallast',
  'RunPodSandbox',
  'PullImage',
]);

const CALLS = v.strictObject({
  only: v.optional(v.array(CALL)),
  include: v.optional(v.array(CALL)),
  exclude: v.optional(v.array(CALL)),
  order: v.optional(v.array(CALL)),
  count: v.optional(v.record(CALL_KIND, RANGE)),
  concurrency: v.optional(v.strictObject({ max: v.pipe(v.number(), v.integer(), v.minValue(1)) })),
});

const SIGNAL_VIEW = v.strictObject({
  threshold: v.optional(COUNT),
  available: v.optional(COUNT),
  met: v.optional(v.boolean()),
  unknown: v.optional(v.boolean()),
});

const WARNING = v.strictObject({
  code: CODE,
  contains: v.optional(v.array(TEXT), []),
  max: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  over: v.optional(v.picklist(['step', 'scenario']), 'step'),
});

export const EXPECTATION = v.pipe(
  v.strictObject({
    variant: v.optional(TEXT),
    after: v.optional(COUNT),
    note: v.optional(v.string()),
    config: v.optional(CONFIG_RESULT),
    calls: v.optional(CALLS),
    evicted: v.optional(v.strictObject({ only: v.optional(v.array(POD_NAME)), max: v.optional(COUNT) })),
    grace: v.optional(v.record(POD_NAME, COUNT)),
    condition: v.optional(v.strictObject({ DiskPressure: v.boolean() })),
    signals: v.optional(v.record(SIGNAL, SIGNAL_VIEW)),
    warn: v.optional(v.array(WARNING)),
    noWarn: v.optional(v.array(CODE)),
    message: v.optional(
      v.strictObject({ contains: v.optional(v.array(TEXT), []), notContains: v.optional(v.array(TEXT), []) }),
    ),
    admitted: v.optional(v.strictObject({ none: v.literal(true) })),
    layout: v.optional(LAYOUT),
    noCrash: v.optional(v.literal(true)),
    loopBlockedMax: v.optional(DURATION),
    freedReported: v.optional(v.strictObject({ bytes: COUNT })),
    logsRemoved: v.optional(v.strictObject({ attempts: v.array(TEXT) })),
    logDirsRemoved: v.optional(v.strictObject({ only: v.array(TEXT) })),
    logFilesRemoved: v.optional(v.strictObject({ first: TEXT })),
    terminationFilesRemoved: v.optional(v.record(POD_NAME, RANGE)),
  }),
  v.check((each) => each.config !== undefined || each.after !== undefined, 'what is expected of a run needs `after`'),
);

export type Expectation = v.InferOutput<typeof EXPECTATION>;
export type ConfigResult = v.InferOutput<typeof CONFIG_RESULT>;
export type ExpectedCalls = v.InferOutput<typeof CALLS>;
export type ExpectedWarning = v.InferOutput<typeof WARNING>;
export type SignalView = v.InferOutput<typeof SIGNAL_VIEW>;
