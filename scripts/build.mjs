// Compiles src and test to build/; run by itself it also bundles the program into dist/.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';
import { ensureInstalled, root } from './ensure-installed.mjs';

/** Installs what is missing and compiles; ends the process when the compiler finds an error. */
export function build() {
  ensureInstalled();
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
    },
  );
  if (status !== 0) process.exit(status ?? 1);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  build();
  await bundle();
}
