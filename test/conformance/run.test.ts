import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import * as v from 'valibot';
import { CASE, compare, NotPlayed, type PlayFiles, playFile } from './case.js';
import { ALL_FILES, countsOf, playFolder, renderReports } from './run.js';

const HEAD = { source: 'here', about: 'sums', verified: true };
const SUM = v.strictObject({ ...CASE, terms: v.array(v.number()), sum: v.number() });

const FILES: PlayFiles = {
  sums: playFile(
    SUM,
    async ({ terms, sum }) => {
      if (terms.length === 0) throw new NotPlayed('nobody adds nothing');
      return compare(
        'sum',
        sum,
        terms.reduce((a, b) => a + b),
      );
    },
    {},
  ),
};

/** A folder with these files, as long as the test runs. */
function folderOf(t: ExecutionContext, files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

const RIGHT = { name: 'right', terms: [1, 2], sum: 3 };
const WRONG = { name: 'wrong', terms: [1, 2], sum: 4 };
const EMPTY = { name: 'empty', terms: [], sum: 0 };
const ODD = { ...RIGHT, name: 'odd', step: 'unheard of' };

test('the last line counts what passed, failed and was not played; each difference is told', async (t) => {
  const folder = folderOf(t, { 'sums.json': { ...HEAD, cases: [RIGHT, WRONG, EMPTY, ODD] }, 'README.md': 'read me' });
  const lines = renderReports(await playFolder(folder, FILES)).split('\n');
  t.is(lines.at(-1), '1 passed, 2 failed, 1 not played');
  t.deepEqual(lines[1]?.split(/\s+/), ['sums', '4', '1', '1']);
  t.true(lines.includes('  sum: expected 4, actual 3'));
  t.true(lines.includes('sums: odd'), 'a key that nothing plays is a failed case');
});

const FAULTS = [
  ['a file that nobody plays', { 'strange.json': { ...HEAD, cases: [] } }, /^strange: nothing here plays/m],
  ['a file that is no JSON', { 'sums.json': '{' }, /^sums: /m],
  ['a file with a key of its own', { 'sums.json': { ...HEAD, extra: 1, cases: [RIGHT] } }, /^sums: /m],
  ['a file without cases', { 'sums.json': HEAD }, /^sums: /m],
] as const;

for (const [title, files, says] of FAULTS) {
  test(`${title} is a failure`, async (t) => {
    const reports = await playFolder(folderOf(t, files), FILES);
    t.is(countsOf(reports).failed, 1);
    t.regex(renderReports(reports), says);
  });
}

test('a missing file is none, and a folder without vectors is a mistake', async (t) => {
  const folder = folderOf(t, { 'sums.json': { ...HEAD, cases: [RIGHT] } });
  t.deepEqual(countsOf(await playFolder(folder)), { passed: 0, failed: 1, 'not-played': 0 });
  t.deepEqual(countsOf(await playFolder(folder, { ...ALL_FILES, ...FILES })), {
    passed: 1,
    failed: 0,
    'not-played': 0,
  });
  await t.throwsAsync(playFolder(folderOf(t, { 'README.md': 'read me' })), { message: /no JSON file/ });
});

test('scenarios in prose are counted and not played', async (t) => {
  const folder = folderOf(t, { 'eviction-e2e.json': { cases: [{}, {}] } });
  t.deepEqual(countsOf(await playFolder(folder)), { passed: 0, failed: 0, 'not-played': 2 });
});
