// Installs what is missing, compiles, and runs the demonstration: the whole job on an embedded runtime.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './ensure-installed.mjs';

build();
const args = process.argv.slice(2);
const child = spawn(
  process.execPath,
  ['--max-semi-space-size=1', join(root, 'build/src/main.js'), ...(args.length > 0 ? args : ['demo'])],
  {
    stdio: 'inherit',
  },
);
// We wait until the child has cleaned up. It takes the same signal twice without harm: Ctrl-C reaches it directly as well.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 128);
});
