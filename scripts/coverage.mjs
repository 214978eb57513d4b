// Measures how much of the pure core the tests run, and fails below 95 %: `npm run coverage`; --collected reports on the last run.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './ensure-installed.mjs';

/** The core: everything that decides. The rest is covered by running it against real runtimes, which is not counted here. */
const CORE = ['eviction', 'gc', 'reclaim', 'manager'];
const LEAST_PERCENT = 95;

if (!process.argv.includes('--collected')) {
  const env = { ...process.env, RECLAIMD_COVERAGE: '1' };
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/test.mjs'), '--quick'], {
    env,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/c8/bin/c8.js'),
    'report',
    '--temp-directory=coverage/raw',
    '--reports-dir=coverage',
    '--reporter=text',
    '--reporter=html',
    '--all',
    ...CORE.map((folder) => `--include=build/src/${folder}/**`),
    ...filesOfTypesOnly().map((file) => `--exclude=${file}`),
    '--check-coverage',
    `--lines=${LEAST_PERCENT}`,
    `--branches=${LEAST_PERCENT}`,
    '--functions=0',
    '--statements=0',
  ],
  { cwd: root, stdio: 'inherit' },
);
process.exit(status ?? 1);

/** Types are gone after compiling: such a file is never loaded, and all of its lines would count as not run. */
function filesOfTypesOnly() {
  const typesOnly = /^(\s*\/\*\*[^]*?\*\/)*\s*export \{\};\s*(\/\/# sourceMappingURL=\S+\s*)?$/;
  return CORE.flatMap((folder) =>
    readdirSync(join(root, 'build/src', folder), { recursive: true })
      .filter((name) => name.endsWith('.js'))
      .map((name) => join('build/src', folder, name))
      .filter((file) => typesOnly.test(readFileSync(join(root, file), 'utf8'))),
  );
}
