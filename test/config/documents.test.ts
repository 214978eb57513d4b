import { readFileSync } from 'node:fs';
import test from 'ava';
import { FLAGS } from '../../src/config/flags.js';
import { configSchema } from '../../src/config/json-schema.js';
import { KEYS } from '../../src/config/key-table.js';
import { loadSettings } from '../../src/config/load.js';

const ROOT = new URL('../../../', import.meta.url);

function textOf(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

test('the schema file is the one that the table of keys makes', (t) => {
  t.deepEqual(JSON.parse(textOf('config/reclaimd.schema.json')), JSON.parse(JSON.stringify(configSchema())));
});

test('the default file gives what no file gives, without a word', (t) => {
  const path = 'config/default.yaml';
  const given = loadSettings({ file: { path, text: textOf(path) } });
  t.deepEqual(given.problems, []);
  const bare = loadSettings({});
  t.deepEqual(given.kind === 'loaded' && given.settings, bare.kind === 'loaded' && bare.settings);
});

test('the default file has every key', (t) => {
  const result = loadSettings({ file: { path: 'default.yaml', text: textOf('config/default.yaml') } });
  const text = textOf('config/default.yaml');
  for (const { name } of KEYS) t.regex(text, new RegExp(`^\\s*${name.split('.').at(-1)}:`, 'm'));
  t.is(result.kind, 'loaded');
});

for (const { name, flag, unit } of KEYS) {
  test(`the manual tells unit, default and reason of ${name}`, (t) => {
    const line = textOf('config/README.md')
      .split('\n')
      .find((each) => each.startsWith(`| \`${name}\` |`));
    const [, , flags = '', units = '', fallback = '', why = ''] = (line ?? '').split('|').map((cell) => cell.trim());
    t.true(flags.includes(`\`--${flag}\``), flags);
    t.is(units, unit);
    t.not(fallback, '');
    t.true(why.length > 20, why);
  });
}

test('the manual tells every code that can be said', (t) => {
  const manual = textOf('config/README.md');
  const unions = [
    textOf('src/config/problem.ts'),
    textOf('src/eviction/threshold-text.ts'),
    textOf('src/eviction/limit-text.ts'),
  ].join('\n');
  const codes = new Set([...unions.matchAll(/^\s+\| '([A-Z_]+)'/gm)].map(([, code]) => code));
  t.true(codes.size > 35);
  for (const code of codes) t.true(manual.includes(`| \`${code}\` |`), code);
});

test('every flag has help and a name of its own', (t) => {
  t.is(new Set(FLAGS.map(({ name }) => name)).size, FLAGS.length);
  t.deepEqual(
    FLAGS.filter(({ help }) => help === ''),
    [],
  );
});
