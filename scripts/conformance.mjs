// Compiles and plays the vectors of the kubelet's behaviour under the kubelet profile: `npm run conformance`. The project's own, or
// those of another folder: `VECTORS_DIR=…`. Fails when a case does, or when a file is one that nothing here plays.
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './ensure-installed.mjs';

build();
const { countsOf, playFolder, renderReports } = await import('../build/test/conformance/run.js');
const reports = await playFolder(process.env.VECTORS_DIR ?? join(root, 'test/conformance/vectors'));
console.log(renderReports(reports));
process.exitCode = countsOf(reports).failed === 0 ? 0 : 1;
