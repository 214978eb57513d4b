import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import test from 'ava';
import { KEYS } from '../src/config/key-table.js';
import { POLICIES } from '../src/eviction/policy.js';

const ROOT = new URL('../../', import.meta.url);

interface Row {
  readonly rule: string;
  readonly kubelet: string;
  readonly reclaimd: string;
  readonly tests: readonly string[];
}

/** The cells of the table below a head, row by row. */
function table(head: string): readonly (readonly string[])[] {
  const lines = readFileSync(new URL('src/ARCHITECTURE.md', ROOT), 'utf8').split('\n');
  const after = lines.slice(lines.indexOf(head) + 2);
  const end = after.findIndex((line) => !line.startsWith('|'));
  return after.slice(0, end === -1 ? undefined : end).map((line) =>
    line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim()),
  );
}

/** The tests that a cell names. */
function testsOf(cell: string): readonly string[] {
  return cell.split(', ').map((each) => each.replace(/ \(.*\)$/, ''));
}

/** The rows of the table of rules. */
function rows(): readonly Row[] {
  return table('| rule | kubelet | reclaimd | test |').map(([rule = '', kubelet = '', reclaimd = '', tests = '']) => ({
    rule,
    kubelet,
    reclaimd,
    tests: testsOf(tests),
  }));
}

/** `eviction.cadence` and the like, with what it is in each profile. */
function fields(): ReadonlyMap<string, readonly [kubelet: unknown, reclaimd: unknown]> {
  return new Map(
    (['eviction', 'gc'] as const).flatMap((group) => {
      const kubelet: Readonly<Record<string, unknown>> = POLICIES.kubelet[group];
      const reclaimd: Readonly<Record<string, unknown>> = POLICIES.reclaimd[group];
      return Object.keys(kubelet).map((name) => [`${group}.${name}`, [kubelet[name], reclaimd[name]]] as const);
    }),
  );
}

/** The text of a test by its name: a file `NAME.test.ts`, or all files of a folder. Empty when there is none. */
function textOf(path: string): string {
  const file = new URL(`${path}.test.ts`, ROOT);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const folder = new URL(path, ROOT);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return '';
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(`${path}/${name}`, ROOT), 'utf8'))
    .join('\n');
}

test('each rule in which the profiles differ has its row, once, and no row is of a rule that is gone', (t) => {
  const named = rows().flatMap(({ rule }) => [...rule.matchAll(/`((?:eviction|gc)\.\w+)`/g)].map(([, name]) => name));
  t.deepEqual(named.toSorted(), [...fields().keys()].toSorted());
});

for (const [name, [kubelet, reclaimd]] of fields()) {
  test(`the profiles differ in ${name}`, (t) => t.notDeepEqual(kubelet, reclaimd));
}

for (const { rule, kubelet, reclaimd, tests } of rows()) {
  test(`the row of ${rule} says what both profiles do and names tests that are there`, (t) => {
    t.true(kubelet.length > 0 && reclaimd.length > 0 && kubelet !== reclaimd);
    for (const each of tests) t.true(each.startsWith('test/') && textOf(each) !== '', each);
    // A rule in which they differ is tested where the one that is not the default, or the rule itself, is asked for.
    const field = /`(?:eviction|gc)\.(\w+)`/.exec(rule)?.[1];
    if (field === undefined) return;
    const asks = new RegExp(`kubelet|${field}`);
    t.true(
      tests.some((each) => asks.test(textOf(each))),
      'none of them asks for the rule or for the profile',
    );
  });
}

const FEATURES = table('| what | setting | where | test |');

test('there is a table of what else a kubelet does', (t) => {
  t.true(FEATURES.length > 10);
});

for (const [what = '', setting = '', where = '', tests = ''] of FEATURES) {
  test(`${what}: its settings, its sources and its tests are there`, (t) => {
    const settings = [...setting.matchAll(/`([\w.]+)`/g)].map(([, name]) => name);
    t.true(settings.length > 0);
    for (const name of settings)
      t.true(
        KEYS.some((row) => row.name === name),
        name,
      );
    const sources = [...where.matchAll(/`([\w/-]+)`/g)].map(([, name]) => name);
    t.true(sources.length > 0);
    for (const name of sources) t.true(existsSync(new URL(`src/${name}.ts`, ROOT)), name);
    for (const each of testsOf(tests)) t.true(each.startsWith('test/') && textOf(each) !== '', each);
  });
}
