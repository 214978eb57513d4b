// Changes the pure core one operator at a time and counts the changes no test notices: `node scripts/mutate.mjs [--sample N] [--seed S] [--files TEXT …]`; fails below 85 %.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { SourceMap } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled, root } from './ensure-installed.mjs';

ensureInstalled();
const { default: ts } = await import('typescript');

const LEAST_PERCENT = 85;
/** What decides, and nothing else: effects are held by tests against runtimes, which are too slow to run once a mutant. */
const MUTATED = ['src/eviction', 'src/gc'];
const TESTS = ['eviction', 'gc', 'properties', 'config', 'conformance', 'manager', 'reclaim'];
/** Files that only word sentences: a changed word is no changed decision, and their tests compare samples, not every text. */
const WORDS_ONLY = new Map([
  ['src/eviction/explain.js', 'tells an event as a sentence'],
  ['src/eviction/message.js', 'words the message of an evicted pod'],
  ['src/eviction/limit-advice.js', 'words advice about limits'],
  ['src/gc/gc-explain.js', 'tells an event of collecting as a sentence'],
]);
/** A test file that takes longer is not run for mutants. */
const FAST_MS = 20_000;
const AT_A_TIME = Math.min(2, availableParallelism());
const PROPERTY_RUNS = '300';
/** The survivors that were looked at and change nothing; the percentage counts them as survivors all the same. */
const LOOKED_AT = 'test/mutation-survivors.md';

/** What an operator is changed to. */
const OTHER_OPERATOR = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string' },
    files: { type: 'string', multiple: true },
  },
});
/** Parts of file names; none: all files. */
const wanted = [...(options.files ?? []), ...positionals];
const seed = Number(options.seed ?? Date.now() % 1_000_000);

const home = mkdtempSync(join(tmpdir(), 'reclaimd-mutate-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const copies = Array.from({ length: AT_A_TIME }, (_, slot) => join(home, `copy-${slot}`));
layCopies();
const points = findPoints();
const sample = shuffled(points, seed).slice(0, Number(options.sample ?? points.length));
console.log(`${points.length} mutation points, ${sample.length} tried, seed ${seed}`);
const tests = await measureTests();
await report();

/** The tree and its compiled code, once for each mutant that runs at a time: `build/` may be in use by others. */
function layCopies() {
  const [first] = copies;
  mkdirSync(first);
  for (const folder of ['src', 'test', 'config', 'scripts']) {
    cpSync(join(root, folder), join(first, folder), { recursive: true });
  }
  for (const file of ['tsconfig.json', 'README.md']) cpSync(join(root, file), join(first, file));
  symlinkSync(join(root, 'node_modules'), join(first, 'node_modules'));
  const settings = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // Without ava's cache: it would be written through the link.
  settings.ava = { ...settings.ava, cache: false, concurrency: 1 };
  writeFileSync(join(first, 'package.json'), JSON.stringify(settings));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: first, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  for (const copy of copies.slice(1)) cpSync(first, copy, { recursive: true, verbatimSymlinks: true });
}

/** `{ file, at, end, line, before, after, text }`: file as `src/….js`, offsets in the compiled code, line in the source. */
function findPoints() {
  const files = MUTATED.flatMap((folder) =>
    readdirSync(join(copies[0], 'build', folder), { recursive: true })
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(folder, name)),
  );
  return files
    .filter((file) => !WORDS_ONLY.has(file))
    .filter((file) => wanted.length === 0 || wanted.some((text) => file.includes(text)))
    .sort()
    .flatMap(pointsOf);
}

function pointsOf(file) {
  const text = readFileSync(join(copies[0], 'build', file), 'utf8');
  const map = new SourceMap(JSON.parse(readFileSync(join(copies[0], 'build', `${file}.map`), 'utf8')));
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const found = [];
  const visit = (node) => {
    for (const [place, after] of changesOf(node)) {
      const at = place.getStart(parsed);
      const { line, character } = parsed.getLineAndCharacterOfPosition(at);
      found.push({
        file,
        at,
        end: place.getEnd(),
        line: (map.findEntry(line, character).originalLine ?? line) + 1,
        before: place.getText(parsed),
        after,
        text: text.split('\n')[line].trim(),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

/** What to put in the place of which part of a node. */
function changesOf(node) {
  if (ts.isBinaryExpression(node)) {
    const after = OTHER_OPERATOR[node.operatorToken.getText()];
    const isText = [node.left, node.right].some(
      (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
    );
    return after === undefined || (isText && after === '-') ? [] : [[node.operatorToken, after]];
  }
  if (ts.isNumericLiteral(node)) return [[node, String(Number(node.text) + 1)]];
  if (ts.isBigIntLiteral(node)) return [[node, `${BigInt(node.text.slice(0, -1)) + 1n}n`]];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[node, 'false']];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[node, 'true']];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [[node, `(${node.operand.getText()})`]];
  }
  if (ts.isIfStatement(node) && node.elseStatement === undefined && leaves(node.thenStatement)) {
    return [[node.expression, 'false']];
  }
  return [];
}

function leaves(statement) {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement;
  return last !== undefined && (ts.isReturnStatement(last) || ts.isContinueStatement(last));
}

/**
 * The fast tests that pass unchanged: `{ name, ms, ranges }`, ranges being what V8 counted, for each file of the core and test
 * process. Kept between runs, by the code it depends on.
 */
async function measureTests() {
  const names = TESTS.flatMap((folder) =>
    readdirSync(join(copies[0], 'test', folder), { recursive: true })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join('test', folder, name)),
  )
    .filter((name) => !readFileSync(join(copies[0], name), 'utf8').includes('withParts('))
    .map((name) => name.replace(/\.ts$/, '.js'));
  const cache = join(tmpdir(), 'reclaimd-mutate-coverage');
  mkdirSync(cache, { recursive: true });
  const common = hashOfCommonCode();
  const measured = [];
  await eachInSlots(names, async (name, copy) => {
    const code = readFileSync(join(copy, 'build', name));
    const kept = join(cache, `${createHash('sha1').update(common).update(code).digest('hex')}.json`);
    if (!existsSync(kept)) writeFileSync(kept, JSON.stringify(await measure(name, copy)));
    measured.push({ name, ...JSON.parse(readFileSync(kept, 'utf8')) });
  });
  for (const { name, outcome, ms } of measured) {
    if (outcome !== 'passed') console.log(`not used as it fails without any change: ${name}`);
    else if (ms > FAST_MS) console.log(`not used as it takes ${(ms / 1000).toFixed(1)} s: ${name}`);
  }
  const used = measured.filter(({ outcome, ms }) => outcome === 'passed' && ms <= FAST_MS);
  console.log(`${used.length} test files`);
  return used;
}

function hashOfCommonCode() {
  const hash = createHash('sha1').update(process.version);
  const folder = join(copies[0], 'build');
  for (const name of readdirSync(folder, { recursive: true }).sort()) {
    if (name.endsWith('.js') && !name.endsWith('.test.js')) hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex');
}

async function measure(name, copy) {
  const raw = mkdtempSync(join(home, 'coverage-'));
  const start = performance.now();
  const outcome = await runTests([name], copy, 120_000, { NODE_V8_COVERAGE: raw });
  const ms = performance.now() - start;
  const ranges = {};
  for (const part of readdirSync(raw)) {
    for (const { url, functions } of JSON.parse(readFileSync(join(raw, part), 'utf8')).result) {
      const prefix = join(copy, 'build/');
      if (!url.startsWith('file:') || !fileURLToPath(url).startsWith(prefix)) continue;
      const file = fileURLToPath(url).slice(prefix.length);
      if (!MUTATED.includes(dirname(file))) continue;
      ranges[file] ??= [];
      ranges[file].push(
        functions.flatMap((each) =>
          each.ranges.map(({ startOffset, endOffset, count }) => [startOffset, endOffset, count]),
        ),
      );
    }
  }
  rmSync(raw, { recursive: true, force: true });
  return { outcome: outcome === 'passed' ? 'passed' : 'failed', ms, ranges };
}

/** Whether a test ran the code at an offset: the innermost range round it says so. */
function runs({ ranges }, { file, at }) {
  return (ranges[file] ?? []).some((process) => {
    const round = process.filter(([start, end]) => start <= at && at < end);
    const innermost = round.reduce(
      (least, each) => (each[1] - each[0] <= least[1] - least[0] ? each : least),
      [0, Number.POSITIVE_INFINITY, 0],
    );
    return innermost[2] > 0;
  });
}

async function report() {
  const lookedAt = existsSync(join(root, LOOKED_AT)) ? readFileSync(join(root, LOOKED_AT), 'utf8') : '';
  const outcomes = { passed: [], failed: [], 'ran too long': [] };
  let done = 0;
  await eachInSlots(sample, async (point, copy) => {
    const outcome = await tryMutant(point, copy);
    outcomes[outcome].push(point);
    done += 1;
    if (outcome === 'passed') console.log(`survived ${lineOf(point)}${point.isRun ? '' : ' (no test runs it)'}`);
    if (done % 25 === 0) console.log(`… ${done} of ${sample.length}`);
  });
  const survivors = outcomes.passed.toSorted((a, b) => a.file.localeCompare(b.file) || a.at - b.at);
  const isListed = (point) => lookedAt.includes(entryOf(point));
  console.log(`\nSurvivors, as ${LOOKED_AT} lists them:`);
  for (const point of survivors) {
    console.log(`${isListed(point) ? 'listed' : 'NEW   '} ${lineOf(point)}\n       ${entryOf(point)}`);
  }
  const killed = sample.length - survivors.length;
  const percent = sample.length === 0 ? 0 : (100 * killed) / sample.length;
  console.log(
    `\n${sample.length} mutants of ${points.length} points, seed ${seed}: ${killed} killed ` +
      `(${outcomes['ran too long'].length} by the time limit), ${survivors.length} survived ` +
      `(${survivors.filter(isListed).length} listed), ${percent.toFixed(1)} % killed`,
  );
  process.exitCode = percent < LEAST_PERCENT ? 1 : 0;
}

function lineOf({ file, line, before, after }) {
  return `${file.replace(/\.js$/, '.ts')}:${line}, ${before} -> ${after}`;
}

/** How a survivor is named in the list: by its text, since lines move. */
function entryOf({ file, text, before, after }) {
  return `\`${basename(file, '.js')}\` \`${text}\` \`${before}\` -> \`${after}\``;
}

/** Runs the tests that run the point, those that most likely notice first. */
async function tryMutant(point, copy) {
  const running = tests.filter((each) => runs(each, point));
  point.isRun = running.length > 0;
  const own = point.file.replace(/^src\//, 'test/').replace(/\.js$/, '.test.js');
  const isNear = ({ name }) => dirname(name) === dirname(own) || name.startsWith('test/properties/core');
  const groups = [
    running.filter(({ name }) => name === own),
    running.filter((each) => each.name !== own && isNear(each)),
    running.filter((each) => each.name !== own && !isNear(each)),
  ];
  const path = join(copy, 'build', point.file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, point.at) + point.after + text.slice(point.end));
  try {
    for (const group of groups.filter(({ length }) => length > 0)) {
      // Several times what they took unchanged, since the machine may be busier now than it was then.
      const limitMs = 10_000 + 4 * group.reduce((sum, { ms }) => sum + ms, 0);
      const outcome = await runTests(
        group.map(({ name }) => name),
        copy,
        limitMs,
      );
      if (outcome !== 'passed') return outcome;
    }
    return 'passed';
  } finally {
    writeFileSync(path, text);
  }
}

/** `passed`, `failed`, or `ran too long`. */
function runTests(names, copy, limitMs, env = {}) {
  const ava = join(root, 'node_modules/ava/entrypoints/cli.mjs');
  const child = spawn(process.execPath, [ava, '--fail-fast', ...names.map((name) => join('build', name))], {
    cwd: copy,
    env: { ...process.env, RECLAIMD_PROPERTY_RUNS: PROPERTY_RUNS, ...env },
    stdio: 'ignore',
    // A group of its own, so that a test process in an endless loop ends with it.
    detached: true,
  });
  return new Promise((resolve) => {
    const end = () => process.kill(-child.pid, 'SIGKILL');
    const limit = setTimeout(() => {
      resolve('ran too long');
      end();
    }, limitMs);
    process.once('exit', end);
    child.once('exit', (code) => {
      clearTimeout(limit);
      process.off('exit', end);
      resolve(code === 0 ? 'passed' : 'failed');
    });
  });
}

/** Does the work on all items, one at a time in each copy. */
async function eachInSlots(items, work) {
  const waiting = [...items];
  await Promise.all(
    copies.map(async (copy) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item, copy);
    }),
  );
}

/** The same order for the same seed. */
function shuffled(items, from) {
  const rank = (index) => createHash('sha1').update(`${from}:${index}`).digest('hex');
  return items
    .map((item, index) => ({ item, key: rank(index) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}
