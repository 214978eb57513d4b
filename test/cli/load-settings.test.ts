import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { runCommandLine } from '../../src/cli/command-line.js';
import { readSettings, UnreadableConfiguration } from '../../src/cli/load-settings.js';

const directory = mkdtempSync(join(tmpdir(), 'reclaimd-settings-'));
test.after.always(() => {
  rmSync(directory, { recursive: true });
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

test('a file that cannot be a configuration is refused by its name', (t) => {
  const refusal = (config: string) =>
    t.throws(() => readSettings({ config, flags: [] }), { instanceOf: UnreadableConfiguration })?.message;
  const huge = file('huge.yaml', '# \n'.repeat(400_000));
  t.is(refusal(huge), `Cannot read the configuration as the file must have at most 1 MiB: ${huge}`);
  const latin = file('latin.yaml', Uint8Array.of(0x72, 0x3a, 0x20, 0xe9));
  t.is(refusal(latin), `Cannot read the configuration as the file must be text in UTF-8: ${latin}`);
  t.is(refusal('/dev/zero'), 'Cannot read the configuration as the file must have at most 1 MiB: /dev/zero');
  t.regex(refusal(directory) ?? '', /must be there and readable/);
});

test('a byte order mark is no fault', (t) => {
  const config = file('bom.yaml', '\u{feff}rootDir: /srv\n');
  t.like(readSettings({ config, flags: [] }), { kind: 'loaded', settings: { rootDir: '/srv' } });
});

test('a file that is not there is a mistake on the command line', async (t) => {
  t.is(await runCommandLine(['config', 'show', '--config', join(directory, 'none')]), 2);
  t.is(await runCommandLine(['run', '--once', '--config', join(directory, 'none')]), 2);
});
