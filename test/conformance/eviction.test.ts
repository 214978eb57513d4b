import { readFileSync } from 'node:fs';
import test from 'ava';
import type { CaseResult, PlayFiles } from './case.js';
import { FILES as PODS } from './play/eviction-pods.js';
import { FILES as SETTINGS } from './play/eviction-settings.js';
import { FILES as SIGNALS } from './play/eviction-signals.js';
import { FILES as SYNC } from './play/eviction-sync.js';

const FILES: PlayFiles = { ...SETTINGS, ...SIGNALS, ...PODS, ...SYNC };

/** What is told of a failed case at most: the first differences name the rule. */
const SHOWN = 5;

function vectorOf(file: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../test/conformance/vectors/${file}.json`, import.meta.url), 'utf8'));
}

function lineOf({ name, why, differences }: CaseResult): string {
  const shown = differences
    .slice(0, SHOWN)
    .map((each) => `${each.path}: expected ${JSON.stringify(each.expected)}, got ${JSON.stringify(each.actual)}`);
  return [name, ...(why === undefined ? [] : [why]), ...shown].join('\n    ');
}

for (const [file, play] of Object.entries(FILES)) {
  test(`${file}: each case has the outcome that is written in it`, async (t) => {
    const results = await play(vectorOf(file));
    t.true(results.length > 0);
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    t.is(others.length, 0, `${others.length} of ${results.length} did not pass\n  ${others.map(lineOf).join('\n  ')}`);
  });
}
