import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { CaseResult, PlayFiles } from './case.js';
import { FILES as PODS } from './play/eviction-pods.js';
import { FILES as SETTINGS } from './play/eviction-settings.js';
import { FILES as SIGNALS } from './play/eviction-signals.js';
import { FILES as SYNC } from './play/eviction-sync.js';
import { FILES as CONTAINERS } from './play/gc-containers.js';
import { FILES as IMAGES } from './play/gc-image.js';
import { FILES as LIFECYCLE } from './play/gc-lifecycle.js';
import { FILES as LOGS } from './play/gc-logs.js';
import { FILES as NODE } from './play/gc-node.js';

/** Every file of vectors that can be played, by name. */
export const ALL_FILES: PlayFiles = {
  ...SETTINGS,
  ...SIGNALS,
  ...PODS,
  ...SYNC,
  ...IMAGES,
  ...CONTAINERS,
  ...LOGS,
  ...LIFECYCLE,
  ...NODE,
};

/** Scenarios for a whole node with a kubelet, in words: there to be read. */
const PROSE: ReadonlySet<string> = new Set(['eviction-e2e']);

/** What became of one file. */
export interface FileReport {
  readonly file: string;
  readonly results: readonly CaseResult[];
  /** Why the file as a whole could not be played; null when it was. */
  readonly fault: string | null;
}

/**
 * Plays all vectors of a folder, file by file in the order of their names. A file that nobody knows how to play is a fault; one
 * that is missing is not. What is no JSON file is passed over. Throws when the folder cannot be read or holds no vectors.
 */
export async function playFolder(folder: string, files: PlayFiles = ALL_FILES): Promise<readonly FileReport[]> {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => basename(name, '.json'))
    .sort();
  if (names.length === 0) throw new Error(`Cannot play vectors as the folder holds no JSON file: ${folder}`);
  const reports: FileReport[] = [];
  for (const name of names) reports.push(await playOne(folder, name, files));
  return reports;
}

async function playOne(folder: string, file: string, files: PlayFiles): Promise<FileReport> {
  try {
    const document: unknown = JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8'));
    if (PROSE.has(file)) return { file, results: proseOf(document), fault: null };
    const play = Object.hasOwn(files, file) ? files[file] : undefined;
    if (play === undefined) return { file, results: [], fault: 'nothing here plays a file of this name' };
    return { file, results: await play(document), fault: null };
  } catch (error) {
    return { file, results: [], fault: error instanceof Error ? error.message : String(error) };
  }
}

function proseOf(document: unknown): readonly CaseResult[] {
  const cases = typeof document === 'object' && document !== null && 'cases' in document ? document.cases : [];
  return (Array.isArray(cases) ? cases : []).map((_, index) => ({
    name: `scenario ${index + 1}`,
    outcome: 'not-played',
    differences: [],
    why: 'prose: it needs a node with a kubelet',
  }));
}

/** How many cases of some files had each outcome; a file with a fault counts as one failure. */
export function countsOf(reports: readonly FileReport[]): Record<CaseResult['outcome'], number> {
  const all = reports.flatMap(({ results }) => results.map(({ outcome }) => outcome));
  const many = (outcome: CaseResult['outcome']) => all.filter((each) => each === outcome).length;
  const faults = reports.filter(({ fault }) => fault !== null).length;
  return { passed: many('passed'), failed: many('failed') + faults, 'not-played': many('not-played') };
}

/** The table of files, then each difference, and what the counts are in the last line. */
export function renderReports(reports: readonly FileReport[]): string {
  const width = Math.max('file'.length, ...reports.map(({ file }) => file.length));
  const rows = reports.map((report) => {
    const counts = countsOf([report]);
    return row(width, report.file, report.results.length, counts.passed, counts['not-played']);
  });
  const counts = countsOf(reports);
  return [
    row(width, 'file', 'cases', 'passed', 'not played'),
    ...rows,
    '',
    ...reports.flatMap(linesOf),
    `${counts.passed} passed, ${counts.failed} failed, ${counts['not-played']} not played`,
  ].join('\n');
}

function row(width: number, file: string, ...cells: readonly (string | number)[]): string {
  return `${file.padEnd(width)}${cells.map((cell) => `${cell}`.padStart(12)).join('')}`;
}

function linesOf({ file, results, fault }: FileReport): readonly string[] {
  const lines = results
    .filter(({ outcome }) => outcome === 'failed')
    .flatMap(({ name, why, differences }) => [
      `${file}: ${name}`,
      ...(why === undefined ? [] : [`  ${why}`]),
      ...differences.map(
        ({ path, expected, actual }) => `  ${path}: expected ${textOf(expected)}, actual ${textOf(actual)}`,
      ),
    ]);
  return fault === null ? lines : [`${file}: ${fault}`, ...lines];
}

/** A value as JSON; a missing one and numbers that JSON does not know by name. */
function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}`;
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
}
