// Bundles build/ into dist/reclaimd.cjs with V8's compiled code beside it: the daemon then starts in half the time.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { join } from 'node:path/posix';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import * as esbuild from 'esbuild';
import { root } from './ensure-installed.mjs';

/** Loaded from node_modules when they are used, which a daemon under a service manager never does. */
const ON_DEMAND = ['pino-pretty', 'systeminformation'];

/**
 * Files that find others beside themselves (workers, package.json) go on finding those of build/: in the bundle each is told
 * the address that it has there.
 */
const keepAddresses = {
  name: 'keep addresses',
  setup(build) {
    build.onLoad({ filter: /\/build\/src\/.*\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const address = `require('node:url').pathToFileURL(require('node:path').join(__dirname, '..', ${JSON.stringify(relative(root, path))})).href`;
      return { contents: source.replaceAll('import.meta.url', `(${address})`), loader: 'js' };
    });
  },
};

/** Writes dist/. Takes some 0.2 s. Throws when a module cannot be found. */
export async function bundle() {
  const file = join(root, 'dist/reclaimd.cjs');
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['build/src/cli/command-line.js'],
    outfile: 'dist/reclaimd.cjs',
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ON_DEMAND,
    // As require: code from V8's cache cannot import.
    supported: { 'dynamic-import': false },
    plugins: [keepAddresses],
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  writeFileSync(join(root, 'dist/reclaimd.cache'), compiled(file));
}

/** What scripts/reclaimd compiles, compiled: whole, and with the functions that loading has already run. */
function compiled(file) {
  const script = new Script(wrapped(readFileSync(file, 'utf8')), { filename: file });
  return script.createCachedData();
}

/** The wrapper that a CommonJS module runs in; scripts/reclaimd uses the same. */
export function wrapped(source) {
  return `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await bundle();
