import type { LoadResult } from '../../../src/config/load.js';
import type { Profile } from '../../../src/config/settings.js';
import type { Expectation } from '../format/expectations.js';
import type { ConfigScenario, RuntimeScenario, Scenario } from '../format/scenario.js';
import { checkConfig } from './check-config.js';
import { checkRun } from './check-run.js';
import { checkArithmetic, checkTable } from './check-table.js';
import { loadRaw, loadResolved } from './configuration.js';
import { type Difference, difference, same } from './outcome.js';
import type { StepRecord } from './record.js';
import { playSteps } from './steps.js';

/** Why a scenario is not played under a profile, or where it differs from what is expected. */
export type Played =
  | { readonly kind: 'played'; readonly differences: readonly Difference[] }
  | { readonly kind: 'not-played'; readonly why: string };

/** Plays one scenario under a profile. */
export async function playScenario(scenario: Scenario, profile: Profile): Promise<Played> {
  if (profile === 'kubelet') return playKubelet(scenario);
  switch (scenario.kind) {
    case 'config':
      return played(await playConfig(scenario));
    case 'runtime':
      return played(await playRuntime(scenario));
    case 'config-table':
      return played(
        scenario.rowsAre === 'percent of capacity' ? checkArithmetic(scenario) : checkTable(scenario, 'reclaimd'),
      );
  }
}

function played(differences: readonly Difference[]): Played {
  return { kind: 'played', differences };
}

/** Under the kubelet profile only what the loader alone can show is played. */
function playKubelet(scenario: Scenario): Played {
  switch (scenario.kind) {
    case 'runtime':
      return { kind: 'not-played', why: 'what the kubelet does is told in words' };
    case 'config-table':
      if (scenario.rowsAre === 'percent of capacity') {
        return { kind: 'not-played', why: 'arithmetic has no profile' };
      }
      return played(checkTable(scenario, 'kubelet'));
    case 'config': {
      const { variants, ...one } = scenario.config;
      const forms = variants ?? [{ name: 'kubelet', kubelet: scenario.kubelet.verdict, ...one }];
      return played(
        forms.flatMap(({ name, kubelet, ...form }) => {
          const result = loadRaw(form, 'kubelet');
          const told = result.problems.map(({ message }) => message).join('; ');
          const expected = kubelet === 'reject' ? 'refused' : 'loaded';
          return result.kind === expected ? [] : [difference(`kubelet[${name}]`, expected, `${result.kind}: ${told}`)];
        }),
      );
    }
  }
}

async function playConfig({ config, steps, expect }: ConfigScenario): Promise<readonly Difference[]> {
  const { variants, layout = null, ...one } = config;
  const forms = new Map((variants ?? [{ name: '', ...one }]).map((each) => [each.name, each] as const));
  const resultOf = (name: string): LoadResult => {
    const form = forms.get(name);
    if (form === undefined) throw new Error(`Cannot load a variant as the scenario must have it: ${name}`);
    return loadRaw(form, 'reclaimd');
  };
  const [first] = steps;
  const started = first?.op === 'start' ? (first.variant ?? '') : null;
  const loads = expect.flatMap((each, index) =>
    each.config === undefined
      ? []
      : checkConfig(`expect[${index}].config`, each.config, resultOf(each.variant ?? ''), layout),
  );
  if (started === null) return [...loads, ...afterNothing(expect)];
  const result = resultOf(started);
  if (result.kind === 'refused') return [...loads, ...refusal(result)];
  const records = await playSteps(steps, { settings: result.settings, layout: layout ?? 'single' });
  return [...loads, ...checkRuns(expect, records)];
}

async function playRuntime({ config, steps, expect }: RuntimeScenario): Promise<readonly Difference[]> {
  const result = loadResolved(config);
  if (result.kind === 'refused') return refusal(result);
  return checkRuns(expect, await playSteps(steps, { settings: result.settings, layout: config.layout }));
}

function checkRuns(expect: readonly Expectation[], records: readonly StepRecord[]): readonly Difference[] {
  return expect.flatMap((each, index) => {
    if (each.after === undefined) return [];
    const record = records[each.after];
    const path = `expect[${index}] after ${each.after}`;
    if (record === undefined) return [difference(path, 'a step', `there are ${records.length}`)];
    return checkRun(path, each, record);
  });
}

function refusal({ problems }: LoadResult): readonly Difference[] {
  return [
    difference(
      'start',
      'the configuration is loaded',
      problems.map(({ message }) => message),
    ),
  ];
}

/** A scenario without steps must expect nothing of a run. */
function afterNothing(expect: readonly Expectation[]): readonly Difference[] {
  const later = expect.filter(({ after, config }) => after !== undefined && config === undefined);
  return same('expectations of a run without steps', 0, later.length);
}
