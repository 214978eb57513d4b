// Installs what is missing, compiles and bundles, and measures: `npm run bench [-- --quick] [-- ROW…]`; fails when a mark is missed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { bundle } from './bundle.mjs';
import { root } from './ensure-installed.mjs';

build();
// The daemon is measured as a service manager starts it.
await bundle();
const { status } = spawnSync(process.execPath, [join(root, 'build/test/bench/main.js'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
