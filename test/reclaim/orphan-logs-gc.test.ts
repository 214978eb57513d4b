import test from 'ava';
import { createContainerGC } from '../../src/reclaim/container-gc.js';
import { prepareOrphanLogs } from '../../src/reclaim/orphan-logs.js';
import { withOrphanLogs } from '../../src/reclaim/orphan-logs-gc.js';
import { instant, milliseconds } from '../../src/units/units.js';
import { told } from '../fakes/collect-events.js';
import { FakeFiles } from '../fakes/fake-files.js';
import { ofKind } from '../fakes/fake-node.js';
import { FakePods } from '../fakes/fake-pods.js';
import { runFor } from '../fakes/fake-run.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { PATHS } from '../fakes/fake-world.js';
import { childrenOf } from '../fakes/planning.js';
import { emptyWorld, GONE, MIB, putContainer, putPod } from '../fakes/scenery.js';

const UID = '12345678-1234-1234-1234-12345678900';
const NO_LIMITS = { minAge: milliseconds(0), maxPerPodContainer: null, maxContainers: null };

/** Three log directories of 20 MiB that nobody knows, the last one of them young, and a dead container of 10 MiB. */
function scene() {
  const world = emptyWorld();
  putContainer(world, 'dead', GONE, { mib: 10 });
  for (const last of ['1', '2', '3']) {
    const log = { bytes: 20 * MIB, inodes: 1 };
    world.logs.set(`${PATHS.logs}/d_p_${UID}${last}/c/0.log`, log);
    world.disks.nodefs.take(log);
  }
  world.disks.nodefs.fillUntilFree(50 * MIB);
  const { clock } = world;
  const runtime = new FakeRuntime(world);
  const pods = new FakePods(world);
  const files = new FakeFiles(world);
  const changedAt = async (path: string) => instant(clock.wall() - (path.endsWith('3') ? 1_000 : 600_000));
  const logFiles = { list: async (directory: string) => childrenOf(world, directory), changedAt };
  const podLogsDir = PATHS.logs;
  const gc = withOrphanLogs(
    createContainerGC({ runtime, pods, files, clock, limits: NO_LIMITS, podLogsDir }),
    (signal) =>
      prepareOrphanLogs(
        { runtime, pods, files, logFiles, clock, podLogsDir, ownerScope: 'all', kubeletRuns: () => false },
        signal,
      ),
    clock,
  );
  const collect = (mib: number, more: { logsHere?: boolean; profile?: 'kubelet' } = {}) => {
    const { logsHere = true, ...rest } = more;
    const run = { ...runFor(world, mib * MIB, { filesystem: 'nodefs', ...rest }), logsHere };
    return clock.run(told(gc.deleteAllUnusedContainers(run)));
  };
  /** The names of the directories that are gone; removals run side by side. */
  const directoriesRemoved = () =>
    files.removed
      .filter((path) => !path.endsWith('.log'))
      .map((path) => path.slice(PATHS.logs.length + 1))
      .toSorted();
  return { world, runtime, pods, collect, directoriesRemoved };
}

const labelsOf = (events: readonly { readonly subject: { readonly label: string } }[]) =>
  events.map((each) => each.subject.label);

test('log directories of nobody go after the dead containers, until the target is measured', async (t) => {
  const { collect } = scene();
  const { events, result } = await collect(80);
  t.deepEqual(labelsOf(ofKind(events, 'removed')), ['default/gone/dead', `d_p_${UID}1`]);
  t.is(result.outcome, 'reached');
  t.is(result.removed['pod-logs'], 1);
});

test('one that changed less than five minutes ago stays, whatever is missing', async (t) => {
  const { collect, directoriesRemoved } = scene();
  const { result } = await collect(999);
  t.deepEqual(
    directoriesRemoved(),
    ['1', '2'].map((last) => `d_p_${UID}${last}`),
  );
  t.is(result.outcome, 'exhausted');
});

test('where dead containers are enough no directory is touched', async (t) => {
  const { collect, directoriesRemoved } = scene();
  t.is((await collect(60)).result.outcome, 'reached');
  t.deepEqual(directoriesRemoved(), []);
});

test('they stay where logs lie on another disk, and in the kubelet’s profile', async (t) => {
  for (const more of [{ logsHere: false }, { profile: 'kubelet' }] as const) {
    const { collect, directoriesRemoved } = scene();
    await collect(999, more);
    t.deepEqual(directoriesRemoved(), []);
  }
});

test('a pod that comes between plan and removal keeps its directory', async (t) => {
  const { world, runtime, collect, directoriesRemoved } = scene();
  let lists = 0;
  runtime.beforeEffect = ({ call }) => {
    if (call !== 'listContainers') return;
    lists += 1;
    // The first list is that of the containers, the second tells whose the directories are, the third is the last look.
    if (lists === 3) putPod(world, `${UID}1`);
  };
  const { events } = await collect(999);
  t.deepEqual(
    ofKind(events, 'removal-skipped').map(({ subject, why }) => [subject.label, why]),
    [[`d_p_${UID}1`, 'its pod is there now']],
  );
  t.deepEqual(directoriesRemoved(), [`d_p_${UID}2`]);
});

test('pods that cannot be listed keep every directory, and that is told', async (t) => {
  const { pods, runtime, collect, directoriesRemoved } = scene();
  let lists = 0;
  runtime.beforeEffect = ({ call }) => {
    lists += call === 'listContainers' ? 1 : 0;
    if (lists === 2) pods.failure = new Error('no answer');
  };
  const { events, result } = await collect(999);
  t.deepEqual(
    ofKind(events, 'list-failed').map(({ what }) => what),
    ['log directories of nobody'],
  );
  t.is(result.outcome, 'exhausted');
  t.deepEqual(directoriesRemoved(), []);
});
