// The command for service managers: `node --max-semi-space-size=1 scripts/reclaimd.cjs …`. Runs dist/ while it is as new as build/, else build/.
const { readFileSync, statSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const root = join(__dirname, '..');
const bundle = join(root, 'dist/reclaimd.cjs');
const compiled = join(root, 'dist/reclaimd.cache');

start(process.argv.slice(2));

async function start(args) {
  // Not caught: what ends here is a fault of ours, and its stack belongs on standard error.
  process.exitCode = await (isBundled() ? loadBundle() : await loadBuild()).runCommandLine(args);
}

/** Whoever compiles without bundling must not be given the old program. */
function isBundled() {
  const made = statSync(compiled, { throwIfNoEntry: false });
  const built = statSync(join(root, 'build/.tsbuildinfo'), { throwIfNoEntry: false });
  return made !== undefined && (built === undefined || made.mtimeMs >= built.mtimeMs);
}

/** V8 takes the compiled code only from its own version and flags; else it compiles the text, which is merely slower. */
function loadBundle() {
  const text = readFileSync(bundle, 'utf8');
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: bundle,
    cachedData: readFileSync(compiled),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, join(root, 'dist'));
  if (process.env.RECLAIMD_KEEP_COMPILED !== undefined) keepCompiled(script, process.env.RECLAIMD_KEEP_COMPILED);
  return module.exports;
}
