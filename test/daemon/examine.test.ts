import test from 'ava';
import { renderExamination } from '../../src/cli/render/examination.js';
import { examine } from '../../src/daemon/examine.js';
import { MIB, openNode, settingsFor } from './daemon-scene.js';

const ALONE = { runs: false, thresholds: null };

test('on a node in order every check is passed but that no daemon runs, and unused images are what could go', async (t) => {
  const node = await openNode(t);
  await node.embedded.importImage({ name: 'embedded.test/unused:1', layers: [{ seed: 'unused', bytes: 4 * MIB }] });
  const settings = settingsFor(node.embedded, []);
  const found = await examine(settings, ALONE, () => true);
  t.deepEqual(
    found.checks.filter(({ level }) => level === 'fail').map(({ what }) => what),
    [],
  );
  t.is(found.checks.find(({ what }) => what === 'daemon')?.level, 'warn');
  const layers = found.accounts[0]?.holders.find(({ what }) => what === 'image layers, unpacked');
  t.true((layers?.reclaimable ?? 0) >= 4 * MIB);
  const text = renderExamination(found, 'text');
  t.notRegex(text, /undefined|NaN|null/);
  t.deepEqual(JSON.parse(renderExamination(found, 'json')), JSON.parse(JSON.stringify(found)));
  t.regex(text, /3 images, 2 of them unused/);
});

test('a runtime that does not answer is a failed check, and nothing is said of space', async (t) => {
  const node = await openNode(t);
  const settings = { ...settingsFor(node.embedded, []), runtimeEndpoint: 'unix:///nonexistent/reclaimd.sock' };
  const found = await examine(settings, ALONE, () => true);
  t.is(found.checks[0]?.level, 'fail');
  t.regex(found.checks[0]?.text ?? '', /nonexistent/);
  t.deepEqual(found.accounts, []);
});
