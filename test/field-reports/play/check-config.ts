import type { LoadResult } from '../../../src/config/load.js';
import type { Settings } from '../../../src/config/settings.js';
import { deriveContainerfs } from '../../../src/eviction/containerfs.js';
import { lineOf } from '../../../src/eviction/line.js';
import type { Limit, Threshold } from '../../../src/eviction/threshold.js';
import { limit as limitOf } from '../../fakes/builders.js';
import type { ScenarioLayout } from '../format/common.js';
import type { ConfigResult } from '../format/expectations.js';
import { layoutOfScenario } from './layouts.js';
import { type Difference, difference, holds, same } from './outcome.js';

/** Amounts of a target are absolute; the capacity only matters for percentages, which are of this much then. */
const CAPACITY = 100 * 2 ** 30;

/** What a load gave, in the words of the scenarios. */
export function verdictOf(result: LoadResult): ConfigResult['verdict'] {
  if (result.kind === 'refused') return 'reject';
  return result.problems.length === 0 ? 'accept' : 'accept+warn';
}

/** Where a load differs from what is expected of it. */
export function checkConfig(
  path: string,
  expected: ConfigResult,
  result: LoadResult,
  layout: ScenarioLayout | null,
): readonly Difference[] {
  const told = result.problems.map(({ severity, code, path: at, message }) => `${severity} ${code} ${at}: ${message}`);
  const problems = (expected.problems ?? []).flatMap((each, index) => {
    const found = result.problems.some(
      ({ severity, code, path: at, message }) =>
        severity === each.severity &&
        code === each.code &&
        at === each.path &&
        each.mustMention.every((text) => message.includes(text)),
    );
    return holds(found, `${path}.problems[${index}]`, each, told);
  });
  const verdict = verdictOf(result);
  const verdicts =
    verdict === expected.verdict ? [] : [difference(`${path}.verdict`, expected.verdict, [verdict, ...told])];
  if (result.kind === 'refused') return [...verdicts, ...problems];
  const thresholds = effective(result.settings, layout);
  return [
    ...verdicts,
    ...problems,
    ...checkThresholds(`${path}.thresholds`, expected.thresholds, thresholds),
    ...checkTargets(`${path}.target`, expected.target, thresholds),
    ...checkSettings(`${path}.settings`, expected.settings, result.settings),
  ];
}

/** The thresholds in force; under a layout that is known those of containerfs are derived. */
function effective(settings: Settings, layout: ScenarioLayout | null): readonly Threshold[] {
  if (layout === null) return settings.thresholds;
  return deriveContainerfs(settings.thresholds, layoutOfScenario(layout)).thresholds;
}

function checkThresholds(
  path: string,
  expected: ConfigResult['thresholds'],
  thresholds: readonly Threshold[],
): readonly Difference[] {
  if (expected === undefined) return [];
  const told = thresholds.map(textOf);
  if (expected.length === 0) return holds(thresholds.length === 0, path, [], told);
  return expected.flatMap((each, index) => {
    const found = thresholds.some(
      ({ signal, limit, urgency, minReclaim }) =>
        signal === each.signal &&
        urgency.kind === each.kind &&
        isSame(limit, limitOf(each.value)) &&
        (each.grace === undefined || (urgency.kind === 'soft' && urgency.grace === each.grace)) &&
        (each.minReclaim === undefined || (minReclaim !== null && isSame(minReclaim, limitOf(each.minReclaim)))),
    );
    return holds(found, `${path}[${index}]`, each, told);
  });
}

function checkTargets(
  path: string,
  expected: ConfigResult['target'],
  thresholds: readonly Threshold[],
): readonly Difference[] {
  return Object.entries(expected ?? {}).flatMap(([signal, target]) => {
    const targets = thresholds.filter((each) => each.signal === signal).map((each) => lineOf(each, CAPACITY).target);
    return holds(targets.includes(target), `${path}[${signal}]`, target, targets);
  });
}

function checkSettings(path: string, expected: ConfigResult['settings'], settings: Settings): readonly Difference[] {
  const actual: Readonly<Record<keyof NonNullable<ConfigResult['settings']>, number | null>> = {
    evictionPressureTransitionPeriod: settings.pressureTransitionPeriod,
    imageMinimumGCAge: settings.imageMinimumGCAge,
    imageMaximumGCAge: settings.imageMaximumGCAge ?? 0,
    imageGCHighThresholdPercent: settings.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: settings.imageGCLowThresholdPercent,
    evictionMaxPodGracePeriod: settings.configuredMaxPodGraceSeconds,
  };
  return (Object.keys(expected ?? {}) as (keyof typeof actual)[]).flatMap((key) =>
    same(`${path}.${key}`, expected?.[key], actual[key]),
  );
}

/** Amounts are compared by value, percentages as the fractions that they are in single precision. */
export function isSame(a: Limit, b: Limit): boolean {
  if (a.kind === 'fraction') return b.kind === 'fraction' && a.fraction === b.fraction;
  return b.kind === 'amount' && a.quantity.nano === b.quantity.nano;
}

function textOf({ signal, limit, urgency, minReclaim }: Threshold): string {
  const amount = (each: Limit) => (each.kind === 'fraction' ? `${each.fraction * 100}%` : each.quantity.text);
  const grace = urgency.kind === 'soft' ? ` grace ${urgency.grace} ms` : '';
  return `${signal} < ${amount(limit)} ${urgency.kind}${grace}${minReclaim === null ? '' : ` reclaim ${amount(minReclaim)}`}`;
}
