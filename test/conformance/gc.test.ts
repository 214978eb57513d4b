import { readFileSync } from 'node:fs';
import test from 'ava';
import type { CaseResult, PlayFiles } from './case.js';
import { FILES as CONTAINERS } from './play/gc-containers.js';
import { FILES as IMAGE } from './play/gc-image.js';
import { FILES as LIFECYCLE } from './play/gc-lifecycle.js';
import { FILES as LOGS } from './play/gc-logs.js';
import { FILES as NODE } from './play/gc-node.js';

const FILES: PlayFiles = { ...IMAGE, ...CONTAINERS, ...LOGS, ...LIFECYCLE, ...NODE };

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
    const failed = results.filter((each) => each.outcome === 'failed');
    t.is(failed.length, 0, `${failed.length} of ${results.length} failed\n  ${failed.map(lineOf).join('\n  ')}`);
    const notPlayed = results.filter((each) => each.outcome === 'not-played');
    t.log(
      `${results.length - failed.length - notPlayed.length} of ${results.length} passed, ${notPlayed.length} not played`,
    );
  });
}
