import { decodeFlags, splitFlags } from '../../../src/config/flags.js';
import type { LoadResult } from '../../../src/config/load.js';
import type { Problem } from '../../../src/config/problem.js';
import type { Profile, Settings } from '../../../src/config/settings.js';
import { lineOf } from '../../../src/eviction/line.js';
import type { Threshold } from '../../../src/eviction/threshold.js';
import { limit as limitOf } from '../../fakes/builders.js';
import type { ArithmeticScenario, Row, TableScenario } from '../format/scenario.js';
import { isSame } from './check-config.js';
import { loadRaw, type RawForm } from './configuration.js';
import { type Difference, difference, holds, same } from './outcome.js';

/** What stands beside a value may be doubtful without any doubt about the value. */
const OF_THE_REST: ReadonlySet<string> = new Set([
  'DEFAULTS_DROPPED',
  'NO_DISK_THRESHOLD',
  'RECLAIM_WITHOUT_THRESHOLD',
  'GRACE_WITHOUT_THRESHOLD',
]);
/** The line beside the grace periods of a table. */
const SOFT_LINE = '15%';
const HUNDRED_GI = 107_374_182_400;

/** Plays every row of a table by the loader, under one of the profiles. */
export function checkTable({ rows, rowsAre }: TableScenario, profile: Profile): readonly Difference[] {
  return rows.flatMap((row, index) => {
    const path = `rows[${index}] ${JSON.stringify(row.in)}`;
    const result = loadRaw(formOf(row.in, rowsAre), profile);
    const verdicts = profile === 'kubelet' ? kubeletVerdict(path, row, result) : productVerdict(path, row, result);
    if (result.kind === 'refused') return verdicts;
    const isRead = profile === 'kubelet' ? row.kubelet === 'ok' : true;
    const values = isRead ? checkLimit(path, row, result.settings) : [];
    const others = profile === 'kubelet' ? [] : checkOthers(path, row, rowsAre, result.settings);
    return [...verdicts, ...values, ...others];
  });
}

/** Plays the rows of arithmetic: what a percentage is of a capacity, and when it is met. */
export function checkArithmetic({ rows }: ArithmeticScenario): readonly Difference[] {
  return rows.flatMap((row, index) => {
    const path = `rows[${index}] ${row.percent}% of ${row.capacity}`;
    const { thresholds } = settingsOf(
      loadRaw({ flags: [`--eviction-hard=nodefs.available<${row.percent}%`] }, 'reclaimd'),
    );
    const [threshold] = thresholds;
    if (threshold === undefined) return [difference(path, 'a threshold', thresholds)];
    const { line } = lineOf(threshold, row.capacity);
    if ('threshold' in row) return same(`${path}: threshold`, row.threshold, line);
    return same(`${path}: ${row.available} is met`, row.met, row.available < line);
  });
}

function formOf(text: string, rowsAre: TableScenario['rowsAre']): RawForm {
  // JSON is YAML.
  const entry = { 'nodefs.available': text };
  switch (rowsAre) {
    case 'evictionHard[nodefs.available]':
      return { yaml: JSON.stringify({ evictionHard: entry, mergeDefaultEvictionSettings: true }) };
    case 'evictionSoftGracePeriod[nodefs.available]':
      return {
        yaml: JSON.stringify({ evictionSoft: { 'nodefs.available': SOFT_LINE }, evictionSoftGracePeriod: entry }),
      };
    case '--eviction-hard':
      return { flags: [`--eviction-hard=${text}`] };
    case 'flag':
      return { flags: [text] };
    case 'yaml':
      return { yaml: text };
  }
}

function settingsOf(result: LoadResult): Settings {
  if (result.kind === 'loaded') return result.settings;
  throw new Error(`Cannot play arithmetic as the loader must take it: ${result.problems.map(shown).join('; ')}`);
}

function productVerdict(path: string, { product, code, hint }: Row, result: LoadResult): readonly Difference[] {
  const told = [result.kind, ...result.problems.map(shown)];
  const hints = hint === undefined ? [] : [hint].flat();
  const severity = product === 'reject' ? 'error' : 'warning';
  const isLoaded = result.kind === 'loaded';
  if (isLoaded === (product === 'reject')) return [difference(path, [product, code], told)];
  if (product === 'ok') {
    const others = result.problems.filter((each) => !OF_THE_REST.has(each.code));
    return holds(others.length === 0, path, 'ok', told);
  }
  const found = result.problems.some(
    (each) => each.severity === severity && each.code === code && hints.every((text) => each.message.includes(text)),
  );
  return holds(found, path, [product, code, ...hints], told);
}

function kubeletVerdict(path: string, { kubelet }: Row, result: LoadResult): readonly Difference[] {
  const expected = kubelet === 'error' ? 'refused' : 'loaded';
  const verdicts = same(`${path}: kubelet`, expected, result.kind);
  if (kubelet !== 'ignored' || result.kind !== 'loaded') return verdicts;
  const left = result.settings.thresholds.filter(({ signal }) => signal === 'nodefs.available');
  return [...verdicts, ...holds(left.length === 0, `${path}: ignored`, [], left)];
}

/** The threshold that a row of texts for nodefs.available made. */
function made(settings: Settings): Threshold | undefined {
  return settings.thresholds.find(({ signal, isDerived }) => signal === 'nodefs.available' && isDerived !== true);
}

function checkLimit(path: string, row: Row, settings: Settings): readonly Difference[] {
  const { fraction, of100Gi, valueRoundedUp, disabled } = row;
  const threshold = made(settings);
  if (disabled === true) return holds(threshold === undefined, `${path}: disabled`, true, threshold);
  const limit = threshold?.limit;
  const share = limit?.kind === 'fraction' ? limit.fraction : null;
  return [
    ...(fraction === undefined
      ? []
      : holds(share !== null && isShare(share, fraction), `${path}: fraction`, fraction, share)),
    ...(of100Gi === undefined || threshold === undefined
      ? []
      : same(`${path}: of 100Gi`, of100Gi, lineOf(threshold, HUNDRED_GI).line)),
    ...(valueRoundedUp === undefined
      ? []
      : same(
          `${path}: rounded up`,
          valueRoundedUp,
          limit?.kind === 'amount' ? `${(limit.quantity.nano + 999_999_999n) / 1_000_000_000n}` : null,
        )),
  ];
}

function isShare(actual: number, expected: number | 'NaN'): boolean {
  return expected === 'NaN' ? Number.isNaN(actual) : Math.abs(actual - expected) <= 1e-6;
}

function checkOthers(
  path: string,
  row: Row,
  rowsAre: TableScenario['rowsAre'],
  settings: Settings,
): readonly Difference[] {
  const { ns, value, map } = row;
  const numbers = numbersOf(settings);
  // A soft one with a grace of zero is a hard one: that of the row is told by its line.
  const soft = settings.thresholds.find(
    ({ signal, limit }) => signal === 'nodefs.available' && isSame(limit, limitOf(SOFT_LINE)),
  )?.urgency;
  const duration = soft === undefined ? null : soft.kind === 'soft' ? soft.grace : 0;
  const limit = made(settings)?.limit;
  return [
    ...(ns === undefined
      ? []
      : rowsAre === 'evictionSoftGracePeriod[nodefs.available]'
        ? same(`${path}: ns`, ns, duration === null ? null : duration * 1e6)
        : checkGiven(`${path}: ns`, ns / 1e6, row.in, numbers)),
    ...(value === undefined
      ? []
      : rowsAre === 'flag' || rowsAre === 'yaml'
        ? checkGiven(`${path}: value`, value, row.in, numbers)
        : same(
            `${path}: value`,
            value,
            limit?.kind === 'amount' ? Number(limit.quantity.nano) / 1e9 : (limit?.fraction ?? null),
          )),
    ...(map === undefined
      ? []
      : rowsAre === 'flag'
        ? checkFlagMap(`${path}: map`, map, row.in)
        : checkMap(`${path}: map`, map, settings.thresholds)),
  ];
}

/** The numbers of settings by their keys: milliseconds, percent, seconds. */
function numbersOf(settings: Settings): Readonly<Record<string, number | null>> {
  return {
    evictionPressureTransitionPeriod: settings.pressureTransitionPeriod,
    imageMinimumGCAge: settings.imageMinimumGCAge,
    imageMaximumGCAge: settings.imageMaximumGCAge ?? 0,
    imageGCHighThresholdPercent: settings.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: settings.imageGCLowThresholdPercent,
    evictionMaxPodGracePeriod: settings.configuredMaxPodGraceSeconds,
    runtimeRequestTimeout: settings.runtimeRequestTimeout,
  };
}

const FLAG_KEYS: Readonly<Record<string, string>> = {
  'eviction-pressure-transition-period': 'evictionPressureTransitionPeriod',
  'minimum-image-ttl-duration': 'imageMinimumGCAge',
  'maximum-image-ttl-duration': 'imageMaximumGCAge',
  'image-gc-high-threshold': 'imageGCHighThresholdPercent',
  'image-gc-low-threshold': 'imageGCLowThresholdPercent',
  'eviction-max-pod-grace-period': 'evictionMaxPodGracePeriod',
  'runtime-request-timeout': 'runtimeRequestTimeout',
};

/** The value of the key that a row gives, whichever it is. */
function checkGiven(
  path: string,
  expected: number,
  text: string,
  numbers: Readonly<Record<string, number | null>>,
): readonly Difference[] {
  const flags = text.startsWith('--') ? splitFlags([text]).map(({ name }) => FLAG_KEYS[name.replace(/^-+/, '')]) : [];
  const given = Object.keys(numbers).filter((key) => flags.includes(key) || text.includes(`${key}:`));
  const actual = given.map((key) => numbers[key]);
  return holds(actual.includes(expected), path, expected, Object.fromEntries(given.map((key) => [key, numbers[key]])));
}

function checkMap(
  path: string,
  expected: Readonly<Record<string, string>>,
  thresholds: readonly Threshold[],
): readonly Difference[] {
  const hard = thresholds.filter(
    ({ urgency, signal }) => urgency.kind === 'hard' && signal !== 'allocatableMemory.available',
  );
  const isMissing = Object.entries(expected).filter(
    ([name, text]) => !hard.some(({ signal, limit }) => signal === name && isSame(limit, limitOf(text))),
  );
  const isMore = hard.filter(({ signal }) => !Object.hasOwn(expected, signal));
  return holds(isMissing.length === 0 && isMore.length === 0, path, expected, hard);
}

/** What a flag says by itself, signal by signal. */
function checkFlagMap(path: string, expected: Readonly<Record<string, string>>, flag: string): readonly Difference[] {
  const maps = [...decodeFlags(splitFlags([flag]), 'reclaimd').layer.values()].flatMap((given) =>
    given.kind === 'map' ? [Object.fromEntries([...given.entries].map(([name, { text }]) => [name, text]))] : [],
  );
  const isSaid = maps.some((map) => {
    const names = new Set([...Object.keys(map), ...Object.keys(expected)]);
    return [...names].every((name) => map[name] === expected[name]);
  });
  return holds(isSaid, path, expected, maps);
}

function shown({ severity, code, path, message }: Problem): string {
  return `${severity} ${code} ${path}: ${message}`;
}
