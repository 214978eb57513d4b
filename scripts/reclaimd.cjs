// The command for service managers: `node --max-semi-space-size=1 scripts/reclaimd.cjs …`. Runs dist/ while it is as new as build/, else build/.
const { readFileSync } = require('node:fs');
const { compiled, isBundled, loadBundle } = require('./load-bundle.cjs');

start(process.argv.slice(2));

async function start(args) {
  const { runCommandLine } = isBundled()
    ? loadBundle(readFileSync(compiled)).exports
    : await import('../build/src/cli/command-line.js');
  // Nothing is caught: what rejects is a fault of ours, and its stack belongs on standard error.
  process.exitCode = await runCommandLine(args);
}
