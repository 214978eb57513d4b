import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { NOT_RIGHT_YET } from './not-right-yet.js';
import { type CaseReport, countsOf, playFolder, renderReports } from './run.js';

const CASES = fileURLToPath(new URL('../../../test/field-reports/cases', import.meta.url));

/** Plays one file of that name and content. */
async function played(name: string, content: unknown): Promise<CaseReport> {
  const folder = mkdtempSync(join(tmpdir(), 'field-reports-'));
  try {
    writeFileSync(join(folder, name), JSON.stringify(content));
    const [report] = await playFolder(folder, { profile: 'reclaimd' });
    if (report === undefined) throw new Error(`Cannot test as one file must give one report: ${name}`);
    return report;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A scenario with these steps and expectations, over one disk of 1000 bytes with a line at 100. */
function scenario(steps: readonly object[], expect: readonly object[]): object {
  return {
    id: '99-made-up',
    title: 'made up',
    kind: 'runtime',
    fault: 'eviction-loop',
    source: [],
    numbers: 'derived',
    kubelet: 'not asked',
    config: { layout: 'single', evictionHard: { 'nodefs.available': '100Mi' } },
    steps: [{ op: 'start' }, ...steps],
    expect,
    why: 'a test',
  };
}

const MI = 1_048_576;
const fs = (available: number) => ({
  op: 'fs',
  nodefs: { capacity: 1_000 * MI, available: available * MI, inodes: 1_000, inodesFree: 900 },
});

test('every case is right but those of which it is known that they are not yet', async (t) => {
  const reports = await playFolder(CASES, { profile: 'reclaimd' });
  const wrong = reports.filter(({ id, outcome }) => outcome !== 'passed' && !NOT_RIGHT_YET.has(id));
  t.deepEqual(
    wrong.map(({ id }) => id),
    [],
    renderReports(wrong),
  );
  t.true(reports.length >= 64);
});

test('what is known of the kubelet at load is so under its profile', async (t) => {
  const reports = await playFolder(CASES, { profile: 'kubelet' });
  t.is(countsOf(reports).failed, 0, renderReports(reports));
  t.true(countsOf(reports).passed >= 19);
});

test('a file of another name fails and is named', async (t) => {
  const report = await played('made-up.json', {});
  t.is(report.outcome, 'failed');
  t.regex(report.why ?? '', /made-up\.json/);
});

test('an operation, a key or a code that the format does not have fails and is named with its place', async (t) => {
  for (const [step, expectation, place] of [
    [{ op: 'explode' }, { after: 0, noCrash: true }, /steps\.1/],
    [{ op: 'sync', twice: true }, { after: 0, noCrash: true }, /steps\.1\.twice/],
    [{ op: 'sync' }, { after: 0, crash: false }, /expect\.0\.crash/],
    [{ op: 'sync' }, { after: 0, noWarn: ['NO_SUCH_CODE'] }, /expect\.0\.noWarn\.0/],
  ] as const) {
    const report = await played('99-made-up.json', scenario([step], [expectation]));
    t.is(report.outcome, 'failed');
    t.regex(report.why ?? '', place);
  }
});

test('an expectation that does not hold fails with both values', async (t) => {
  const report = await played(
    '99-made-up.json',
    scenario(
      [fs(50), { op: 'sync' }],
      [{ after: 2, condition: { DiskPressure: false }, signals: { 'nodefs.available': { available: 51 * MI } } }],
    ),
  );
  t.deepEqual(
    report.differences.map(({ expected, actual }) => [expected, actual]),
    [
      [51 * MI, 50 * MI],
      [false, true],
    ],
  );
});

test('an expectation of a step that is not there fails', async (t) => {
  const report = await played('99-made-up.json', scenario([], [{ after: 7, noCrash: true }]));
  t.is(report.outcome, 'failed');
});

test('space comes back when its delay is over, and never above the total', async (t) => {
  const evicted = { name: 'd/a', uid: 'u1' };
  const world = {
    op: 'world',
    pods: [evicted],
    sandboxes: [{ id: 's1', pod: 'd/a', state: 'ready' }],
    containers: [{ id: 'c1', pod: 'd/a', image: 'x:1', state: 'running', rootfs: { bytes: 300 * MI } }],
  };
  const effect = { op: 'effect', call: 'EvictPod:d/a', frees: { nodefs: 2_000 * MI }, delay: '20s' };
  const report = await played(
    '99-made-up.json',
    scenario(
      [fs(50), world, effect, { op: 'sync' }, { op: 'clock', advance: '1m' }, { op: 'sync' }],
      [
        { after: 4, calls: { only: ['EvictPod:d/a'] }, grace: { 'd/a': 1 }, evicted: { only: ['d/a'] } },
        { after: 6, signals: { 'nodefs.available': { available: 1_000 * MI } }, calls: { exclude: ['EvictPod:*'] } },
      ],
    ),
  );
  t.is(report.outcome, 'passed', renderReports([report]));
});

test('the process forgets over a restart what it does not keep, and the world goes on', async (t) => {
  const report = await played(
    '99-made-up.json',
    scenario(
      [fs(500), { op: 'sync' }, { op: 'restart' }, { op: 'admit', pod: { name: 'd/new', uid: 'u9' } }, { op: 'sync' }],
      [{ after: 5, signals: { 'nodefs.available': { available: 500 * MI, met: false } }, noCrash: true }],
    ),
  );
  t.is(report.outcome, 'passed', renderReports([report]));
});
