// The command for service managers: `node --max-semi-space-size=1 scripts/reclaimd.cjs …`. Runs dist/ while it is as new as build/, else build/.
const { readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');
const { compiled, loadBundle } = require('./load-bundle.cjs');

start(process.argv.slice(2));

async function start(args) {
  const { runCommandLine } = isBundled()
    ? loadBundle(readFileSync(compiled)).exports
    : await import('../build/src/cli/command-line.js');
  // Nothing is caught: what rejects is a fault of ours, and its stack belongs on standard error.
  process.exitCode = await runCommandLine(args);
}

/** Whoever compiles without bundling must not be given the old program. */
function isBundled() {
  const made = statSync(compiled, { throwIfNoEntry: false });
  const built = statSync(join(__dirname, '../build/.tsbuildinfo'), { throwIfNoEntry: false });
  return made !== undefined && (built === undefined || made.mtimeMs >= built.mtimeMs);
}
