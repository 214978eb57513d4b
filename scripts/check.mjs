// Runs every static check: types, formatting, lint, one-way imports, dead code, generated code.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './ensure-installed.mjs';

build();
const bin = (name) => join(root, 'node_modules/.bin', name);
const checks = [
  [
    'formatting',
    bin('biome'),
    // Folders by name: the whole tree would hold its own configuration file, which biome takes for a nested project.
    ['check', '--config-path=config', 'src', 'test', 'scripts', ...(process.argv.includes('--fix') ? ['--write'] : [])],
  ],
  ['lint', bin('eslint'), ['-c', 'config/eslint.config.mjs', '--max-warnings=0', 'src', 'test']],
  ['one-way imports', bin('depcruise'), ['--config', 'config/dependency-cruiser.cjs', 'src']],
  ['dead code', bin('knip'), ['--config', 'config/knip.json']],
  ['generated code', process.execPath, ['scripts/generate-proto.mjs', '--check']],
];
const failed = checks.filter(([name, command, args]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  // dependency-cruiser ends with success when it found nothing to look at.
  const blind = name === 'one-way imports' && !/[1-9]\d* modules/.test(stdout);
  const ok = status === 0 && !blind;
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`);
  if (!ok) console.log(`${stdout}${stderr}`);
  return !ok;
});
process.exit(failed.length === 0 ? 0 : 1);
