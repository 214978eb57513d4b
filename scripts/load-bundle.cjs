// Loads dist/reclaimd.cjs, from V8's compiled code where that fits. Imported by reclaimd.cjs, bundle.mjs and the benchmark.
const { readFileSync, statSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const bundle = join(__dirname, '../dist/reclaimd.cjs');
/** Made by bundle.mjs. V8 takes it only from its own version and under the same flags, and else compiles the text. */
const compiled = join(__dirname, '../dist/reclaimd.cache');
/** Those that the daemon is started with: the young generation of the heap stays small, which halves the idle memory. */
const flags = ['--max-semi-space-size=1'];

/** The bundle's exports, and the script that they come from. */
function loadBundle(cachedData) {
  const text = readFileSync(bundle, 'utf8');
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: bundle,
    cachedData,
  });
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, createRequire(bundle), loaded, bundle, dirname(bundle));
  return { script, exports: loaded.exports };
}

/** Whoever compiles without bundling must not be given the old program. */
function isBundled() {
  const made = statSync(compiled, { throwIfNoEntry: false });
  const built = statSync(join(__dirname, '../build/.tsbuildinfo'), { throwIfNoEntry: false });
  return made !== undefined && (built === undefined || made.mtimeMs >= built.mtimeMs);
}

module.exports = { bundle, compiled, flags, isBundled, loadBundle };
