// Loads dist/reclaimd.cjs, from V8's compiled code where that fits. Imported by reclaimd.cjs and bundle.mjs.
const { readFileSync } = require('node:fs');
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

module.exports = { bundle, compiled, flags, loadBundle };
