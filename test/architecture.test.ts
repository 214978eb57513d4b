import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import test from 'ava';
import { POLICIES } from '../src/eviction/policy.js';

const ROOT = new URL('../../', import.meta.url);

interface Row {
  readonly rule: string;
  readonly kubelet: string;
  readonly reclaimd: string;
  readonly tests: readonly string[];
}

/** The rows of the table of rules, by what stands in their first cell. */
function rows(): readonly Row[] {
  const text = readFileSync(new URL('src/ARCHITECTURE.md', ROOT), 'utf8');
  const lines = text.split('\n');
  const head = lines.indexOf('| rule | kubelet | reclaimd | test |');
  const after = lines.slice(head + 2);
  const end = after.findIndex((line) => !line.startsWith('|'));
  return after.slice(0, end === -1 ? undefined : end).map((line) => {
    const [, rule = '', kubelet = '', reclaimd = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    return { rule, kubelet, reclaimd, tests: tests.split(', ').map((each) => each.replace(/ \(.*\)$/, '')) };
  });
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
