import { fc, testProp } from '@fast-check/ava';
import test from 'ava';
import { logStamp } from '../../src/gc/plan-rotation.js';
import { LogRotation } from '../../src/reclaim/log-rotation.js';
import { type Instant, instant, milliseconds } from '../../src/units/units.js';
import { refusal } from '../conformance/fakes/image-runtime.js';
import { LogRuntime } from '../conformance/fakes/log-runtime.js';
import { LogTree } from '../conformance/fakes/log-tree.js';
import { told } from '../conformance/fakes/run-events.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const ROOT = '/var/log/pods';
const SIGNAL = new AbortController().signal;

/** A clock whose wall clock somebody sets. */
class WallApart extends VirtualClock {
  wallOffset = 0;

  override wall(): Instant {
    return instant(this.now() + this.wallOffset);
  }
}

function scene({ maxFiles = 5, maxSizeBytes = 1, workers = 1, logs = ['a'] } = {}) {
  const clock = new WallApart(1_700_000_000_000);
  const tree = new LogTree();
  const runtime = new LogRuntime(tree, true);
  runtime.logs = logs.map((id) => ({ id, path: `${ROOT}/${id}.log`, state: 'running' }));
  const rotation = new LogRotation({
    runtime,
    logFiles: tree,
    files: tree,
    clock,
    limits: { maxFiles, maxSizeBytes },
    podLogsDir: ROOT,
    workers,
  });
  const write = (id: string, text: string) => {
    const path = `${ROOT}/${id}.log`;
    tree.files.set(path, (tree.files.get(path) ?? '') + text);
  };
  return { clock, tree, runtime, rotation, write };
}

const STEPS = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 15 });

testProp(
  'whatever the clock does between rotations, no line is lost and all are read in order',
  [STEPS],
  async (t, steps) => {
    const { clock, tree, rotation, write } = scene({ maxFiles: 100 });
    const lines = steps.map((_, index) => `line ${index};`);
    for (const [index, seconds] of steps.entries()) {
      write('a', lines[index] ?? '');
      await told(rotation.pass(SIGNAL));
      clock.wallOffset += seconds * 1_000;
    }
    const paths = await rotation.logsOf(`${ROOT}/a.log`);
    t.is(paths.map((path) => tree.files.get(path)).join(''), lines.join(''));
  },
);

test('a reopen that fails gives the name back, and says so', async (t) => {
  const { tree, runtime, rotation, write } = scene();
  write('a', 'lines');
  runtime.reopenFailsFor = ['a'];
  const { events } = await told(rotation.pass(SIGNAL));
  t.deepEqual([...tree.files], [[`${ROOT}/a.log`, 'lines']]);
  t.deepEqual(
    events.map((event) => event.kind),
    ['log-not-rotated'],
  );
});

test('a reopen that was carried out although its call broke off keeps the new file and the old one', async (t) => {
  const { clock, tree, runtime, rotation, write } = scene();
  write('a', 'lines');
  const reopen = runtime.reopenContainerLog.bind(runtime);
  runtime.reopenContainerLog = async (id) => {
    await reopen(id);
    throw refusal('ReopenContainerLog');
  };
  const { events } = await told(rotation.pass(SIGNAL));
  t.deepEqual([...tree.files].toSorted(), [
    [`${ROOT}/a.log`, ''],
    [`${ROOT}/a.log.${logStamp(clock.wall())}`, 'lines'],
  ]);
  t.deepEqual(
    events.map((event) => event.kind),
    ['log-not-rotated'],
  );
});

test('when the name cannot be given back either, it is told where the lines go', async (t) => {
  const { clock, tree, runtime, rotation, write } = scene();
  write('a', 'lines');
  runtime.reopenFailsFor = ['a'];
  const rotated = `a.log.${logStamp(clock.wall())}`;
  tree.failing = [{ op: 'rename', name: rotated }];
  const { events } = await told(rotation.pass(SIGNAL));
  const [event] = events;
  t.true(event?.kind === 'log-not-rotated' && event.message.includes(`lines go to ${ROOT}/${rotated}`));
});

test('the removal of the logs of a container waits until its rotation has ended', async (t) => {
  const { clock, tree, runtime, rotation, write } = scene();
  write('a', 'lines');
  const story: string[] = [];
  const reopen = runtime.reopenContainerLog.bind(runtime);
  runtime.reopenContainerLog = async (id) => {
    story.push('reopen begins');
    await clock.sleep(milliseconds(1_000));
    await reopen(id);
    story.push('reopen ends');
  };
  const removeLogs = tree.removeLogs.bind(tree);
  tree.removeLogs = async (root, path) => {
    story.push('removal');
    await removeLogs(root, path);
  };
  const pass = told(rotation.pass(SIGNAL));
  await clock.pass(500);
  const clean = rotation.clean('a', SIGNAL);
  await clock.run(Promise.all([pass, clean]));
  t.deepEqual(story, ['reopen begins', 'reopen ends', 'removal']);
  t.is(tree.files.size, 0);
});

test('several workers rotate at a time, one container each', async (t) => {
  const { clock, runtime, rotation, write } = scene({ workers: 2, logs: ['a', 'b', 'c'] });
  for (const id of ['a', 'b', 'c']) write(id, 'lines');
  const began: (readonly [string, Instant])[] = [];
  const reopen = runtime.reopenContainerLog.bind(runtime);
  runtime.reopenContainerLog = async (id) => {
    began.push([id, instant(clock.now() - 1_700_000_000_000)]);
    await clock.sleep(milliseconds(1_000));
    await reopen(id);
  };
  await clock.run(told(rotation.pass(SIGNAL)));
  t.deepEqual(began, [
    ['a', instant(0)],
    ['b', instant(0)],
    ['c', instant(1_000)],
  ]);
});

test('passes come one pause after the other until the daemon ends', async (t) => {
  const { clock, runtime, rotation } = scene();
  const end = new AbortController();
  const run = told(rotation.run(milliseconds(10_000), end.signal));
  await clock.pass(25_000);
  end.abort();
  await clock.run(run);
  t.is(runtime.asked.length, 3);
});
