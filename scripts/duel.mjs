// Compiles and plays the scenarios of a filling disk on real runtimes under both profiles: `npm run duel [-- --scenario TEXT …]`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './ensure-installed.mjs';

build();
const child = spawn(process.execPath, [join(root, 'build/test/duel/main.js'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
