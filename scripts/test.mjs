// Builds and runs the tests: `npm test -- [--quick] [ava's patterns and options]`; --quick leaves real runtimes out and plays fewer random cases.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from './build.mjs';
import { root } from './ensure-installed.mjs';
import { readTap } from './tap.mjs';

/** Where V8 leaves what it counted, when RECLAIMD_COVERAGE=1 asks for it; coverage.mjs makes the report. */
const RAW_COVERAGE = join(root, 'coverage/raw');

const MARK = { passed: 'ok     ', failed: 'FAILED ', skipped: 'skipped' };

build();
const args = process.argv.slice(2).filter((arg) => arg !== '--quick');
const isQuick = process.argv.includes('--quick');
const hasPatterns = args.some((arg) => !arg.startsWith('-'));
const files = hasPatterns ? [] : testFiles(isQuick);
const { records, problem } = await run([...files, ...args]);

const failed = records.filter(({ outcome }) => outcome === 'failed');
const skipped = records.filter(({ outcome }) => outcome === 'skipped');
const passed = records.length - failed.length - skipped.length;
for (const record of failed) console.log(`\nFAILED ${record.title}\n${record.details.join('\n')}`);
if (skipped.length > 0) console.log(`\nSkipped:\n${skipped.map(({ title }) => `  ${title}`).join('\n')}`);
if (problem !== null) console.log(`\n${problem}`);
// An end that no test stands for is a failure too: the numbers must not look better than what happened.
const failures = problem === null ? failed.length : Math.max(failed.length, 1);
console.log(`\n${passed} passed, ${failures} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`);
process.exitCode = failures === 0 ? 0 : 1;

/** Compiled test files of the sources that are there now: build/ may hold more, of sources that are gone. */
function testFiles(isQuick) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => !isQuick || !readFileSync(join(root, 'test', name), 'utf8').includes('withParts('))
    .map((name) => join('build/test', name.replace(/\.ts$/, '.js')))
    .sort();
}

async function run(avaArgs) {
  const env = { ...process.env, FORCE_COLOR: '0' };
  // A random case is the same on every Node: the whole number of them is played once.
  if (isQuick) env.RECLAIMD_PROPERTY_RUNS ??= '2000';
  if (process.env.RECLAIMD_COVERAGE === '1') {
    rmSync(RAW_COVERAGE, { recursive: true, force: true });
    env.NODE_V8_COVERAGE = RAW_COVERAGE;
  }
  const ava = join(root, 'node_modules/ava/entrypoints/cli.mjs');
  const child = spawn(process.execPath, [ava, '--tap', ...avaArgs], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const records = [];
  for await (const record of readTap(createInterface({ input: child.stdout }))) {
    records.push(record);
    console.log(`${MARK[record.outcome]} ${record.title}`);
  }
  const [code, signal] = await exit;
  if (records.length === 0) return { records, problem: `No test ran (ava ended with ${signal ?? code}).` };
  if (code === 0 || records.some(({ outcome }) => outcome === 'failed')) return { records, problem: null };
  return { records, problem: `ava ended with ${signal ?? code} though no test failed.` };
}
