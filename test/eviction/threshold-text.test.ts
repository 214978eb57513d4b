import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { isSameThreshold } from '../../src/eviction/evaluate.js';
import { splitFlagMap } from '../../src/eviction/flag-map.js';
import {
  type LimitReading,
  limitText,
  parsePercentage,
  readKubeletLimit,
  readStrictLimit,
} from '../../src/eviction/limit-text.js';
import { lineOf } from '../../src/eviction/line.js';
import type { Signal } from '../../src/eviction/signal.js';
import type { Limit, Threshold } from '../../src/eviction/threshold.js';
import { type EvictionTexts, parseThresholds, withAllocatableCopies } from '../../src/eviction/threshold-text.js';
import { parseQuantity, valueRoundedUp } from '../../src/units/quantity.js';
import { milliseconds } from '../../src/units/units.js';

interface VectorLimit {
  readonly quantity?: string;
  readonly fraction?: number;
}

interface VectorThreshold {
  readonly signal: Signal;
  readonly value: VectorLimit;
  readonly gracePeriodSeconds: number;
  readonly minReclaim: VectorLimit | null;
}

interface ParsingCase {
  readonly name: string;
  readonly input: Readonly<Record<string, Readonly<Record<string, string>> | string | readonly string[]>>;
  readonly expectError: boolean;
  readonly errorKind?: string;
  readonly errorKinds?: readonly string[];
  readonly expectThresholds?: readonly VectorThreshold[];
}

/** The code and a word of the rule that stand for each error of the vectors. */
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
const SIGNS = {
  evictionHard: '<',
  evictionSoft: '<',
  evictionSoftGracePeriod: '=',
  evictionMinimumReclaim: '=',
} as const;
const MAPS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/** Vectors are ours: their shape is stated here and held by the cases that read every field of it. */
function casesOf<Case>(file: string): readonly Case[] {
  const url = new URL(`../../../test/conformance/vectors/${file}.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { cases: readonly Case[] }).cases;
}

function limitOf(limit: VectorLimit): Limit {
  return limit.quantity === undefined
    ? { kind: 'fraction', fraction: Math.fround(limit.fraction ?? Number.NaN) }
    : { kind: 'amount', quantity: parseQuantity(limit.quantity) };
}

function thresholdOf({ signal, value, gracePeriodSeconds, minReclaim }: VectorThreshold): Threshold {
  return {
    id: `${signal}/${gracePeriodSeconds}`,
    signal,
    limit: limitOf(value),
    urgency:
      gracePeriodSeconds === 0 ? { kind: 'hard' } : { kind: 'soft', grace: milliseconds(gracePeriodSeconds * 1000) },
    minReclaim: minReclaim === null ? null : limitOf(minReclaim),
  };
}

/** A threshold as text, for comparing without regard to order; fractions to six digits, as the vectors ask. */
function summary({ signal, limit, urgency, minReclaim }: Threshold): string {
  const text = (value: Limit | null) => {
    if (value === null) return 'nothing';
    return value.kind === 'amount' ? `${value.quantity.nano}n` : value.fraction.toFixed(6);
  };
  const grace = urgency.kind === 'hard' ? 'hard' : `${Math.round(urgency.grace * 1e6)}ns`;
  return `${signal} < ${text(limit)} ${grace} + ${text(minReclaim)}`;
}

function textsOf(input: ParsingCase['input']): EvictionTexts {
  const maps = MAPS.map((map) => {
    const given = input[map] ?? {};
    if (typeof given !== 'string') return [map, new Map(Object.entries(given))];
    const parts = splitFlagMap(given, SIGNS[map]);
    return [map, new Map(parts.flatMap((part) => (part.kind === 'entry' ? [[part.signal, part.value]] : [])))];
  });
  const enforced = input['enforceNodeAllocatable'];
  return {
    ...Object.fromEntries(maps),
    enforceNodeAllocatable: Array.isArray(enforced) ? enforced.map(String) : [],
  } as EvictionTexts;
}

for (const file of ['eviction-threshold-parsing', 'golden-parse', 'eviction-flag-text']) {
  for (const each of casesOf<ParsingCase>(file)) {
    test(`${file}: ${each.name}`, (t) => {
      const malformed = MAPS.some((map) => {
        const given = each.input[map];
        return typeof given === 'string' && splitFlagMap(given, SIGNS[map]).some(({ kind }) => kind === 'malformed');
      });
      if (each.errorKind === 'flag-syntax' || malformed) {
        t.is(malformed, each.errorKind === 'flag-syntax');
        return;
      }
      const { thresholds, problems } = parseThresholds(textsOf(each.input), 'kubelet');
      if (!each.expectError) {
        t.deepEqual(problems, []);
        t.deepEqual(thresholds.map(summary).sort(), (each.expectThresholds ?? []).map(thresholdOf).map(summary).sort());
        return;
      }
      const [problem, ...more] = problems;
      t.deepEqual(more, [], 'the kubelet stops at the first error');
      t.deepEqual(thresholds, []);
      const kinds = each.errorKinds ?? [each.errorKind ?? ''];
      t.true(
        kinds.some((kind) => ERRORS[kind]?.[0] === problem?.code && ERRORS[kind]?.[1].test(problem?.rule ?? '')),
        `${kinds.join(' or ')} is not ${problem?.code}: ${problem?.rule}`,
      );
    });
  }
}

interface ValueCase {
  readonly name: string;
  readonly kind: 'parsePercent' | 'valueEquality' | 'resolveAgainstCapacity';
  readonly input: string;
  readonly expectError: boolean;
  readonly expectFraction: number;
  readonly left: VectorLimit;
  readonly right: VectorLimit;
  readonly expectEqual: boolean;
  readonly value: VectorLimit;
  readonly capacity: string;
  readonly expectQuantity: string;
}

for (const each of casesOf<ValueCase>('eviction-values')) {
  test(`eviction-values: ${each.name}`, (t) => {
    const threshold = (value: VectorLimit) =>
      thresholdOf({ signal: 'nodefs.available', value, gracePeriodSeconds: 0, minReclaim: null });
    switch (each.kind) {
      case 'parsePercent':
        if (each.expectError) t.is(parsePercentage(each.input), null);
        else t.true(Math.abs((parsePercentage(each.input) ?? Number.NaN) - each.expectFraction) < 1e-6);
        return;
      case 'valueEquality':
        t.is(isSameThreshold(threshold(each.left), threshold(each.right)), each.expectEqual);
        t.is(isSameThreshold(threshold(each.right), threshold(each.left)), each.expectEqual);
        return;
      case 'resolveAgainstCapacity': {
        const capacity = Number(valueRoundedUp(parseQuantity(each.capacity)));
        t.is(lineOf(threshold(each.value), capacity).line, Number(each.expectQuantity));
      }
    }
  });
}

for (const each of casesOf<{ name: string; thresholds: VectorThreshold[]; expectThresholds: VectorThreshold[] }>(
  'eviction-allocatable-copy',
)) {
  test(`eviction-allocatable-copy: ${each.name}`, (t) => {
    const copied = withAllocatableCopies(each.thresholds.map(thresholdOf));
    t.deepEqual(copied.map(summary), each.expectThresholds.map(thresholdOf).map(summary));
  });
}

test('thresholds come hard, soft, copies, each in the order written, with ids of their own', (t) => {
  const { thresholds, sources } = parseThresholds(
    {
      evictionHard: new Map([
        ['nodefs.available', '10%'],
        ['memory.available', '1Gi'],
        ['allocatableMemory.available', '2Gi'],
      ]),
      evictionSoft: new Map([
        ['nodefs.available', '15%'],
        ['memory.available', '3Gi'],
      ]),
      evictionSoftGracePeriod: new Map([
        ['nodefs.available', '0s'],
        ['memory.available', '30s'],
      ]),
      enforceNodeAllocatable: ['pods'],
    },
    'reclaimd',
  );
  t.deepEqual(
    thresholds.map(({ id }) => id),
    [
      'nodefs.available/hard/1',
      'memory.available/hard/1',
      'allocatableMemory.available/hard/1',
      // Its grace is zero, so it is a second hard one.
      'nodefs.available/hard/2',
      'memory.available/soft/1',
      'allocatableMemory.available/of/hard/1',
    ],
  );
  t.deepEqual(sources.get('nodefs.available/hard/2'), { map: 'evictionSoft', signal: 'nodefs.available' });
  t.deepEqual(sources.get('allocatableMemory.available/of/hard/1'), {
    map: 'evictionHard',
    signal: 'memory.available',
  });
});

test('strict reading says everything at once', (t) => {
  const { problems, thresholds } = parseThresholds(
    {
      evictionHard: new Map([
        ['nodefs.available', 'x'],
        ['disk', '5%'],
      ]),
      evictionSoft: new Map([['imagefs.available', '20%']]),
    },
    'reclaimd',
  );
  t.deepEqual(
    problems.map(({ code, map, signal }) => [code, map, signal]),
    [
      ['BAD_QUANTITY', 'evictionHard', 'nodefs.available'],
      ['UNKNOWN_SIGNAL', 'evictionHard', 'disk'],
      ['SOFT_WITHOUT_GRACE', 'evictionSoft', 'imagefs.available'],
    ],
  );
  t.deepEqual(thresholds, []);
});

const kubeletPercent = test.macro({
  exec(t, text: string, fraction: number | null) {
    t.is(parsePercentage(text), fraction === null ? null : Math.fround(fraction));
  },
  title: (_, text: string) => `the kubelet reads "${text}" as Go does`,
});

test(kubeletPercent, 'NaN%', Number.NaN);
test(kubeletPercent, '+nan%', null);
test(kubeletPercent, '-Infinity%', Number.NEGATIVE_INFINITY);
test(kubeletPercent, '1_0%', 0.1);
test(kubeletPercent, '_10%', null);
test(kubeletPercent, '1__0%', null);
test(kubeletPercent, '1_e1%', null);
test(kubeletPercent, '0x1p3%', 0.08);
test(kubeletPercent, '0x_1.8p3%', 0.12);
test(kubeletPercent, '-0x1p3%', -0.08);
test(kubeletPercent, '0x.8p1%', 0.01);
test(kubeletPercent, '0x1.p1%', 0.02);
test(kubeletPercent, '0x.p1%', null);
test(kubeletPercent, '0x0p9999%', 0);
test(kubeletPercent, '0x1p9999%', null);
test(kubeletPercent, '0x10%', null);
test(kubeletPercent, '1e39%', null);
test(kubeletPercent, '1e-50%', 0);
test(kubeletPercent, '%', null);

test('a NaN passes as a threshold and an infinity as a reclaim, as in the kubelet, and neither does in strict reading', (t) => {
  t.is(readKubeletLimit('NaN%', 'threshold').kind, 'limit');
  t.is(readKubeletLimit('Inf%', 'reclaim').kind, 'limit');
  t.is(readStrictLimit('NaN%', 'threshold', 'nodefs.available').kind, 'refused');
  t.is(readStrictLimit('Inf%', 'reclaim', 'nodefs.available').kind, 'refused');
});

const strictly = test.macro({
  exec(
    t,
    signal: Signal,
    purpose: 'threshold' | 'reclaim',
    text: string,
    kind: LimitReading['kind'],
    codes: readonly string[],
  ) {
    const reading = readStrictLimit(text, purpose, signal);
    t.is(reading.kind, kind);
    t.deepEqual(reading.kind === 'off' ? [] : reading.findings.map(({ code }) => code), codes);
  },
  title: (_, signal: Signal, purpose: string, text: string) => `strict reading of ${purpose} ${signal} ${text}`,
});

test(strictly, 'nodefs.available', 'threshold', '10%', 'limit', []);
test(strictly, 'nodefs.available', 'threshold', '0%', 'off', []);
test(strictly, 'nodefs.available', 'threshold', '100%', 'off', []);
test(strictly, 'nodefs.available', 'threshold', '100.0%', 'refused', ['ALWAYS_MET']);
test(strictly, 'nodefs.available', 'threshold', '101%', 'refused', ['OUT_OF_RANGE']);
test(strictly, 'nodefs.available', 'threshold', '-1%', 'refused', ['OUT_OF_RANGE']);
test(strictly, 'memory.available', 'threshold', '0.0%', 'limit', ['NEVER_MET']);
test(strictly, 'memory.available', 'threshold', '1e1%', 'limit', ['UNUSUAL_NUMBER']);
test(strictly, 'nodefs.available', 'threshold', '50%', 'limit', []);
test(strictly, 'nodefs.available', 'threshold', '51%', 'limit', ['LOOKS_LIKE_USED_PERCENT']);
test(strictly, 'memory.available', 'threshold', '51%', 'limit', []);
test(strictly, 'nodefs.available', 'reclaim', '51%', 'limit', []);
test(strictly, 'nodefs.available', 'reclaim', '100%', 'limit', []);
test(strictly, 'nodefs.available', 'reclaim', '0.5%', 'limit', []);
test(strictly, 'nodefs.available', 'reclaim', '0%', 'refused', ['NOT_POSITIVE']);
test(strictly, 'nodefs.available', 'reclaim', '-0.5%', 'refused', ['NEGATIVE']);
test(strictly, 'nodefs.available', 'threshold', '0', 'refused', ['NOT_POSITIVE']);
test(strictly, 'nodefs.available', 'reclaim', '0', 'limit', []);
test(strictly, 'nodefs.available', 'reclaim', '-1n', 'refused', ['NEGATIVE']);
test(strictly, 'nodefs.inodesFree', 'threshold', '1n', 'limit', ['LESS_THAN_ONE']);
test(strictly, 'nodefs.inodesFree', 'threshold', '999m', 'limit', ['LESS_THAN_ONE']);
test(strictly, 'nodefs.inodesFree', 'threshold', '1', 'limit', []);
test(strictly, 'nodefs.inodesFree', 'threshold', '1Ki', 'limit', ['BYTE_SUFFIX_ON_INODES']);
test(strictly, 'nodefs.available', 'threshold', '1', 'limit', ['SUSPICIOUSLY_SMALL']);
test(strictly, 'nodefs.available', 'threshold', '1048575', 'limit', ['SUSPICIOUSLY_SMALL']);
test(strictly, 'nodefs.available', 'threshold', '1Mi', 'limit', []);
test(strictly, 'nodefs.available', 'threshold', '999P', 'limit', []);
test(strictly, 'nodefs.available', 'threshold', '1E', 'limit', ['ABSURDLY_LARGE']);

const doubts = test.macro((t, texts: Omit<EvictionTexts, 'enforceNodeAllocatable'>, codes: readonly string[]) => {
  const { problems } = parseThresholds({ ...texts, enforceNodeAllocatable: [] }, 'reclaimd');
  t.deepEqual<unknown, unknown>(
    problems.map(({ code }) => code),
    codes,
  );
});
const one = (text: string) => new Map([['nodefs.available', text]]);
const [TEN, GRACE, RECLAIM] = [one('10%'), one('1m'), one('1Gi')];
const NONE = new Map<string, string>();

test(
  'a minimum reclaim of a hard threshold is in order',
  doubts,
  { evictionHard: TEN, evictionSoft: NONE, evictionSoftGracePeriod: NONE, evictionMinimumReclaim: RECLAIM },
  [],
);
test(
  'so is one of a soft threshold, and its grace',
  doubts,
  { evictionHard: NONE, evictionSoft: TEN, evictionSoftGracePeriod: GRACE, evictionMinimumReclaim: RECLAIM },
  [],
);
test(
  'neither has a use without a threshold',
  doubts,
  { evictionHard: NONE, evictionSoft: NONE, evictionSoftGracePeriod: GRACE, evictionMinimumReclaim: RECLAIM },
  ['GRACE_WITHOUT_THRESHOLD', 'RECLAIM_WITHOUT_THRESHOLD'],
);
test(
  'a threshold that could not be read is there all the same: its reclaim is in order',
  doubts,
  { evictionHard: one('x'), evictionSoft: NONE, evictionSoftGracePeriod: NONE, evictionMinimumReclaim: RECLAIM },
  ['BAD_QUANTITY'],
);
test(
  'a grace of zero without a soft threshold is of no use, but makes nothing hard',
  doubts,
  { evictionHard: TEN, evictionSoft: NONE, evictionSoftGracePeriod: one('0s'), evictionMinimumReclaim: NONE },
  ['GRACE_WITHOUT_THRESHOLD'],
);

test('a percentage is shown as it was written', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999 }), (parts) => {
      const text = `${parts / 10_000}%`;
      const reading = readStrictLimit(text, 'threshold', 'memory.available');
      t.is(reading.kind === 'limit' ? limitText(reading.limit) : null, text);
    }),
  );
});

test('no text makes a reader throw, and what strict reading takes the kubelet takes to the same limit', (t) => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[+-]?[0-9.]{0,4}[eEKMGTPkmnui]{0,2}[0-9]{0,2}%{0,2}$/));
  fc.assert(
    fc.property(texts, fc.constantFrom('threshold' as const, 'reclaim' as const), (text, purpose) => {
      const strict = readStrictLimit(text, purpose, 'nodefs.available');
      const kubelet = readKubeletLimit(text, purpose);
      if (strict.kind === 'refused') return;
      t.is(kubelet.kind, strict.kind);
      if (strict.kind === 'limit' && kubelet.kind === 'limit') t.deepEqual(kubelet.limit, strict.limit);
    }),
    { numRuns: 2000 },
  );
});
