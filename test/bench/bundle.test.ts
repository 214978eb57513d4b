import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const node = (...args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

test.serial(
  'V8 takes the compiled code of the bundle under the flag of the service, and the command runs from it',
  (t) => {
    node('scripts/bundle.mjs');
    const load = `
    const { compiled, loadBundle } = require('./scripts/load-bundle.cjs');
    const { script, exports } = loadBundle(require('node:fs').readFileSync(compiled));
    console.log(script.cachedDataRejected);
    exports.runCommandLine(['--version']).then((code) => console.log(code));
  `;
    // package.json has a version, or npm would not run it.
    const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { version: string };
    t.is(node('--max-semi-space-size=1', '--eval', load), `false\n${version}\n0`);
    t.is(node('scripts/reclaimd.cjs', '--version'), version, 'under other flags it is compiled anew');
  },
);
