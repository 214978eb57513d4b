import type { Expectation } from '../format/expectations.js';
import { checkCalls } from './check-calls.js';
import { checkMessage, checkSilence, checkWarnings } from './check-messages.js';
import { checkSignals } from './check-signals.js';
import { layoutOfScenario } from './layouts.js';
import { type Difference, difference, holds, same } from './outcome.js';
import type { Check, StepRecord } from './record.js';

type RunKey = Exclude<keyof Expectation, 'variant' | 'after' | 'note' | 'config'>;
type Checks = { readonly [Key in RunKey]: Check<NonNullable<Expectation[Key]>> };

const CHECKS: Checks = {
  calls: checkCalls,
  signals: checkSignals,
  warn: checkWarnings,
  noWarn: checkSilence,
  message: checkMessage,
  evicted: (path, { only, max }, { evicted }) => [
    ...(only === undefined ? [] : sameSet(`${path}.only`, only, [...evicted])),
    ...holds(max === undefined || evicted.size <= max, `${path}.max`, max, [...evicted]),
  ],
  grace: (path, expected, { graces }) =>
    Object.entries(expected).flatMap(([pod, seconds]) => same(`${path}[${pod}]`, seconds, graces.get(pod))),
  condition: (path, { DiskPressure }, { state }) =>
    same(`${path}.DiskPressure`, DiskPressure, state.conditions.includes('DiskPressure')),
  admitted: (path, _, { admitted }) => sameSet(path, [], admitted),
  layout: (path, layout, { state }) => same(path, layoutOfScenario(layout), state.layout),
  noCrash: (path, _, { crash }) => same(path, null, crash),
  loopBlockedMax: (path, most, { took }) => holds(took <= most, path, most, took),
  freedReported: (path, { bytes }, record) => same(`${path}.bytes`, bytes, freedIn(record)),
  logsRemoved: (path, { attempts }, { withoutLogs }) => {
    const left = attempts.filter((each) => !withoutLogs(each));
    return holds(left.length === 0, `${path}.attempts`, attempts, { stillThere: left });
  },
  logDirsRemoved: (path, { only }, { journal }) => sameSet(`${path}.only`, only, journal.logDirsRemoved),
  logFilesRemoved: (path, { first }, { journal }) => same(`${path}.first`, first, journal.logFilesRemoved[0]),
  terminationFilesRemoved: (path, expected, { journal }) =>
    Object.entries(expected).flatMap(([pod, { min = 0, max = Number.POSITIVE_INFINITY }]) => {
      const many = journal.terminationFilesRemoved.get(pod) ?? 0;
      return holds(many >= min && many <= max, `${path}[${pod}]`, { min, max }, many);
    }),
};

/** Where a step differs from what is expected after it. */
export function checkRun(path: string, expectation: Expectation, record: StepRecord): readonly Difference[] {
  const crash = record.crash === null ? [] : [difference(`${path}: the process lives`, true, record.crash)];
  // Each key is checked by its own entry: the compiler cannot follow that through a union of keys.
  const keys = Object.keys(CHECKS) as RunKey[];
  return [
    ...crash,
    ...keys.flatMap((key) => {
      const expected = expectation[key];
      if (expected === undefined) return [];
      const check = CHECKS[key] as Check<typeof expected>;
      return check(`${path}.${key}`, expected, record);
    }),
  ];
}

/** What the passes of a step say that they freed, in bytes as measured. */
function freedIn({ told }: StepRecord): number | null {
  const freed = told.events.flatMap((event) => {
    if (event.kind !== 'reclaim-finished') return [];
    const { signal } = event.threshold;
    const [before, after] = [event.availableBefore[signal], event.availableAfter[signal]];
    return before === undefined || after === undefined ? [] : [after - before];
  });
  return freed.length === 0 ? null : freed.reduce((sum, each) => sum + each, 0);
}

function sameSet(path: string, expected: readonly string[], actual: readonly string[]): readonly Difference[] {
  const wanted = [...new Set(expected)].sort();
  const found = [...new Set(actual)].sort();
  return holds(wanted.join('\n') === found.join('\n'), path, wanted, found);
}
