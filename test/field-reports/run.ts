import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Profile } from '../../src/config/settings.js';
import { SCENARIO, type Scenario } from './format/scenario.js';
import type { Difference } from './play/outcome.js';
import { playScenario } from './play/play-file.js';

/** What became of one case. */
export interface CaseReport {
  readonly id: string;
  /** Null when the file could not be read. */
  readonly fault: Scenario['fault'] | null;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'not-played';
  readonly differences: readonly Difference[];
  /** Why it was not played, or what is wrong with the file or was thrown; null otherwise. */
  readonly why: string | null;
}

/** Which cases are played, and how. */
export interface PlayOptions {
  readonly profile: Profile;
  /** Only cases whose id, title or group holds this text; absent = all. */
  readonly filter?: string | undefined;
}

const FILE_NAME = /^[0-9]{2}-[a-z0-9-]+\.json$/;
const SCHEMA = 'schema.json';

/**
 * Plays all scenarios of a folder, in the order of their names. A JSON file of another name than `NN-name.json`, the schema
 * excepted, and anything in a file that the format does not have, is a failed case that names the place. Throws when the
 * folder cannot be read or holds no scenario.
 */
export async function playFolder(folder: string, options: PlayOptions): Promise<readonly CaseReport[]> {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== SCHEMA)
    .sort();
  if (names.length === 0) throw new Error(`Cannot play scenarios as the folder holds no JSON file: ${folder}`);
  const reports: CaseReport[] = [];
  for (const name of names) {
    const report = await playFile(folder, name, options);
    if (report !== null) reports.push(report);
  }
  return reports;
}

async function playFile(folder: string, name: string, options: PlayOptions): Promise<CaseReport | null> {
  const id = name.replace(/\.json$/, '');
  const unread = (why: string): CaseReport | null =>
    isMeant(options.filter, id) ? { id, fault: null, title: '', outcome: 'failed', differences: [], why } : null;
  if (!FILE_NAME.test(name)) return unread(`a scenario file is named NN-short-name.json: ${name}`);
  const scenario = readScenario(join(folder, name));
  if (typeof scenario === 'string') return unread(scenario);
  if (scenario.id !== id) return unread(`id is the file name without .json: ${scenario.id}`);
  const { fault, title } = scenario;
  if (!isMeant(options.filter, id, title, fault)) return null;
  const head = { id, fault, title };
  try {
    const played = await playScenario(scenario, options.profile);
    if (played.kind === 'not-played') return { ...head, outcome: 'not-played', differences: [], why: played.why };
    const { differences } = played;
    return { ...head, outcome: differences.length === 0 ? 'passed' : 'failed', differences, why: null };
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ...head, outcome: 'failed', differences: [], why };
  }
}

/** A scenario, or what is wrong with the file and where. */
function readScenario(path: string): Scenario | string {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const read = v.safeParse(SCENARIO, document);
  if (read.success) return read.output;
  return read.issues
    .map((issue) => `${v.getDotPath(issue) ?? 'the file'}: ${issue.message} (${JSON.stringify(issue.input)})`)
    .join('; ');
}

function isMeant(filter: string | undefined, ...texts: readonly string[]): boolean {
  return filter === undefined || texts.some((text) => text.includes(filter));
}

/** How many cases had each outcome. */
export function countsOf(reports: readonly CaseReport[]): Record<CaseReport['outcome'], number> {
  const many = (outcome: CaseReport['outcome']) => reports.filter((each) => each.outcome === outcome).length;
  return { passed: many('passed'), failed: many('failed'), 'not-played': many('not-played') };
}

/** What failed case by case, a table by fault group, and the counts in the last line. */
export function renderReports(reports: readonly CaseReport[]): string {
  const groups = [...new Set(reports.map(({ fault }) => fault ?? 'unreadable'))].sort();
  const width = Math.max('fault'.length, ...groups.map(({ length }) => length));
  const rows = groups.map((group) => {
    const own = reports.filter(({ fault }) => (fault ?? 'unreadable') === group);
    const counts = countsOf(own);
    return row(width, group, own.length, counts.passed, counts.failed, counts['not-played']);
  });
  const counts = countsOf(reports);
  return [
    ...reports.flatMap(linesOf),
    row(width, 'fault', 'cases', 'passed', 'failed', 'not played'),
    ...rows,
    '',
    `${counts.passed} passed, ${counts.failed} failed, ${counts['not-played']} not played`,
  ].join('\n');
}

function row(width: number, name: string, ...cells: readonly (string | number)[]): string {
  return `${name.padEnd(width)}${cells.map((cell) => `${cell}`.padStart(12)).join('')}`;
}

/** Of an actual value so much is shown: a list of a hundred removals names the fault as well by its beginning. */
const CHARACTERS_SHOWN = 600;

function linesOf({ id, title, outcome, differences, why }: CaseReport): readonly string[] {
  if (outcome !== 'failed') return [];
  return [
    `FAILED ${id}${title === '' ? '' : `: ${title}`}`,
    ...(why === null ? [] : [`  ${why}`]),
    ...differences.flatMap(({ path, expected, actual }) => [
      `  ${path}`,
      `    expected ${textOf(expected)}`,
      `    actual   ${textOf(actual)}`,
    ]),
    '',
  ];
}

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return `${value}`;
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
  return text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)}…` : text;
}
