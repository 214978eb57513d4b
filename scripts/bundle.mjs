// Bundles build/ into dist/reclaimd.cjs with V8's compiled code beside it: the daemon then starts in about half the time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './ensure-installed.mjs';
import { bundle as bundleFile, compiled, flags, loadBundle } from './load-bundle.cjs';

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
      const place = JSON.stringify(join('..', relative(root, path)));
      const address = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${place})).href`;
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', `(${address})`), loader: 'js' };
    });
  },
};

/** Writes dist/. Takes about a second. Throws when a module cannot be found. */
export async function bundle() {
  // V8 knows a text by its length alone: the compiled code of an old one must not outlive it.
  rmSync(compiled, { force: true });
  // Not at the top, as the packages may have been installed only just now.
  const esbuild = await import('esbuild');
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['build/src/cli/command-line.js'],
    outfile: bundleFile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ON_DEMAND,
    // As require: a script that V8 takes from compiled code cannot import.
    supported: { 'dynamic-import': false },
    plugins: [keepAddresses],
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  const { status, stderr } = spawnSync(process.execPath, [...flags, fileURLToPath(import.meta.url), '--compile'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Cannot compile the bundle: ended with ${status}: ${stderr}`);
}

/**
 * Keeps the compiled code of all functions that a start calls: V8 compiles most of them only when they are called. A pass
 * that finds no runtime goes most of the way of a start.
 */
async function compile() {
  const { script, exports } = loadBundle();
  const directory = mkdtempSync(join(tmpdir(), 'reclaimd-bundle-'));
  await exports.runCommandLine(['run', '--once', '--container-runtime-endpoint', `unix://${directory}/none.sock`]);
  rmSync(directory, { recursive: true });
  // Renamed into place, as a part of it must not pass for the whole.
  writeFileSync(`${compiled}.unfinished`, script.createCachedData());
  renameSync(`${compiled}.unfinished`, compiled);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await (process.argv.includes('--compile') ? compile() : bundle());
}
