import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Verdict } from './judge.js';
import type { Profile, Stage } from './scenario.js';

/** One run that was played and judged, as a line of the results file. */
export interface Result extends Stage {
  readonly scenario: string;
  readonly profile: Profile;
  /** When it was played. */
  readonly at: string;
  /** Where the daemon's log and the looks lie. */
  readonly evidence: string;
  readonly verdict: Verdict;
}

/** All results of the file; none when there is no file. Throws for a line that is no JSON, but for a last one cut short. */
export function readResults(file: string): readonly Result[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  // What an interrupted run left half written stands after the last newline.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Result); // written by `appendResult` alone
}

/** Adds one result to the file. */
export function appendResult(file: string, result: Result): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
