// Compiles and plays the scenarios of real faults: `npm run field-reports -- [--profile kubelet] [--case TEXT]`. The project's own,
// or those of another folder of the same format: `FIELD_REPORTS_DIR=…`. Fails when a case does, or when a file cannot be read.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { root } from './ensure-installed.mjs';

const { values } = parseArgs({
  options: { profile: { type: 'string', default: 'reclaimd' }, case: { type: 'string' } },
});
if (values.profile !== 'reclaimd' && values.profile !== 'kubelet') {
  console.error(`Cannot play scenarios as the profile is reclaimd or kubelet: ${values.profile}`);
  process.exit(2);
}
build();
const { countsOf, playFolder, renderReports } = await import('../build/test/field-reports/run.js');
const folder = process.env.FIELD_REPORTS_DIR ?? join(root, 'test/field-reports/cases');
const reports = await playFolder(folder, { profile: values.profile, filter: values.case });
console.log(renderReports(reports));
process.exitCode = countsOf(reports).failed === 0 ? 0 : 1;
