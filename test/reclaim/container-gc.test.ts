import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { createContainerGC } from '../../src/reclaim/container-gc.js';
import { instant, milliseconds } from '../../src/units/units.js';
import { told } from '../fakes/collect-events.js';
import { FakeFiles } from '../fakes/fake-files.js';
import { ofKind } from '../fakes/fake-node.js';
import { FakePods } from '../fakes/fake-pods.js';
import { runFor } from '../fakes/fake-run.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { type FakeWorld, PATHS } from '../fakes/fake-world.js';
import { emptyWorld, GONE, MIB, putContainer, putPod, putSandbox } from '../fakes/scenery.js';

function collectorOf(world: FakeWorld) {
  const runtime = new FakeRuntime(world);
  const files = new FakeFiles(world);
  const pods = new FakePods(world);
  const gc = createContainerGC({
    runtime,
    pods,
    files,
    clock: world.clock,
    limits: { minAge: milliseconds(0), maxPerPodContainer: null, maxContainers: null },
    podLogsDir: PATHS.logs,
  });
  const collect = (mib: number, more: Parameters<typeof runFor>[2] = {}) =>
    world.clock.run(told(gc.deleteAllUnusedContainers(runFor(world, mib * MIB, more))));
  return { runtime, files, pods, gc, collect };
}

function removed(events: readonly EvictionEvent[]): readonly string[] {
  return ofKind(events, 'removed').map((event) => event.subject.id);
}

test('dead containers go until the target is measured, and no further', async (t) => {
  const world = emptyWorld();
  for (const id of ['a', 'b', 'c', 'd']) putContainer(world, id, GONE, { mib: 30 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { collect } = collectorOf(world);
  const { events, result } = await collect(100);
  t.deepEqual(removed(events), ['a', 'b']);
  t.is(result.outcome, 'reached');
  t.deepEqual(result.removed, { container: 2 });
  t.is(Number(result.claimed), 60 * MIB);
});

test('while freed space is still coming back nothing more goes', async (t) => {
  const world = emptyWorld();
  world.lateBy = 1_600;
  for (const id of ['a', 'b']) putContainer(world, id, GONE, { mib: 80 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { collect } = collectorOf(world);
  const { events, result } = await collect(100);
  t.deepEqual(removed(events), ['a']);
  t.is(result.outcome, 'reached');
});

test('a runtime that can be made to free at once is asked after each batch, and nothing is waited for', async (t) => {
  const world = emptyWorld();
  world.lateBy = 12_000;
  for (const id of ['a', 'b', 'c']) putContainer(world, id, GONE, { mib: 30 });
  world.disks.imagefs.fillUntilFree(50 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.freesOnDemand = true;
  const { events, result } = await collect(100);
  t.deepEqual(removed(events), ['a', 'b']);
  t.is(result.outcome, 'reached');
  t.deepEqual(
    ofKind(events, 'batch-measured').map(({ waited }) => Number(waited)),
    [0],
  );
  t.is(runtime.targetsOf('freeRemoved').length, 1);
});

test('space that the runtime cannot be made to free is told and waited for', async (t) => {
  const world = emptyWorld();
  world.lateBy = 1_600;
  for (const id of ['a', 'b']) putContainer(world, id, GONE, { mib: 80 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.freesOnDemand = true;
  runtime.fail('freeRemoved', 'no-space');
  const { events, result } = await collect(100);
  t.deepEqual(removed(events), ['a']);
  t.is(result.outcome, 'reached');
  t.is(ofKind(events, 'space-not-freed').length, 1);
});

test('a runtime that does not answer when it is to free holds nothing up for longer than its limit', async (t) => {
  const world = emptyWorld();
  world.lateBy = 30_000;
  for (const id of ['a', 'b']) putContainer(world, id, GONE, { mib: 80 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.latency = { freeRemoved: 60_000 };
  const before = world.clock.now();
  await collect(100);
  t.true(world.clock.now() - before <= 2 * 12_500, `${world.clock.now() - before} ms`);
});

test('the kubelet profile asks no runtime to free', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'a', GONE, { mib: 80 });
  const { runtime, collect } = collectorOf(world);
  runtime.freesOnDemand = true;
  await collect(100, { profile: 'kubelet' });
  t.deepEqual(runtime.targetsOf('freeRemoved'), []);
});

test('where nobody knows what a batch held, it is waited for what it usually takes', async (t) => {
  const world = emptyWorld();
  world.lateBy = 600;
  for (let n = 0; n < 6; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 30, told: 'no-numbers' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { collect } = collectorOf(world);
  const { events } = await collect(100);
  t.is(removed(events).length, 4);
  t.is(ofKind(events, 'batch-measured')[0]?.claimed, null);
});

test('without any sizes from the runtime garbage goes all the same', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'a', GONE, { mib: 80 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.fail('listContainerUsage', 'failed');
  const { events } = await collect(100);
  t.deepEqual(removed(events), ['a']);
});

test('one failed removal does not keep the others from going', async (t) => {
  const world = emptyWorld();
  for (const id of ['a', 'b', 'c']) putContainer(world, id, GONE, { mib: 30 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.fail('removeContainer', 'failed', 'a');
  const { events, result } = await collect(100);
  t.deepEqual(
    ofKind(events, 'removal-failed').map(({ subject }) => subject.id),
    ['a'],
  );
  t.deepEqual(removed(events), ['b', 'c']);
  t.is(result.outcome, 'reached');
});

test('removals run bounded parallel', async (t) => {
  const world = emptyWorld();
  for (let n = 0; n < 12; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 1 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.latency = { removeContainer: 10 };
  await collect(500);
  t.is(runtime.mostAtOnce, 4);
});

test('a container that started meanwhile is skipped, and so is one whose state nobody knows', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'starts', GONE);
  putContainer(world, 'unclear', GONE);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.beforeEffect = ({ call, target }) => {
    if (call === 'containerStatus' && target !== null) {
      world.setState(target, target === 'starts' ? 'running' : 'unknown');
    }
  };
  const { events } = await collect(500);
  t.deepEqual(removed(events), []);
  t.deepEqual(
    ofKind(events, 'removal-skipped').map(({ subject, why }) => [subject.id, why]),
    [
      ['starts', 'it runs now'],
      ['unclear', 'the runtime cannot tell whether it runs'],
    ],
  );
});

test('a container of unknown state is stopped first, with two seconds', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'unclear', GONE, { state: 'unknown' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  const { events } = await collect(500);
  t.deepEqual(
    runtime.mutations.map(({ call, grace }) => [call, grace]),
    [
      ['stopContainer', 2_000],
      ['removeContainer', null],
    ],
  );
  t.deepEqual(removed(events), ['unclear']);
});

test('a container that is gone by itself counts as removed', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'a', GONE);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.beforeEffect = ({ call }) => {
    if (call === 'containerStatus') world.removeContainer('a');
  };
  const { events } = await collect(500);
  t.deepEqual(removed(events), ['a']);
  t.deepEqual(runtime.targetsOf('removeContainer'), []);
});

test('logs go before their container, which stays as the handle when they cannot be removed', async (t) => {
  const world = emptyWorld();
  const stuck = putContainer(world, 'stuck', GONE, { logMib: 5 });
  putContainer(world, 'fine', GONE, { logMib: 5 });
  putContainer(world, 'silent', GONE, { logPath: '' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { files, runtime, collect } = collectorOf(world);
  files.broken.add(stuck.logPath);
  runtime.beforeEffect = ({ call, target }) => {
    if (call === 'removeContainer' && target === 'fine') t.true(files.removed.some((path) => path.includes('fine')));
  };
  const { events } = await collect(500);
  t.deepEqual([...world.containers.keys()], ['stuck']);
  t.deepEqual([...world.logs.keys()], [stuck.logPath]);
  t.deepEqual(removed(events), ['fine', 'silent']);
});

test('a log that lies elsewhere is left alone, and keeps no container', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'dead', GONE, { logPath: '/elsewhere/default_gone_gone/dead/0.log' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { files, collect } = collectorOf(world);
  files.broken.add('/elsewhere/default_gone_gone/dead/0.log');
  const { events } = await collect(500);
  t.deepEqual(removed(events), ['dead']);
  t.deepEqual(files.removed, []);
});

test('a container without a pod identity is never touched', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'foreign', null);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  t.is((await collect(500)).result.outcome, 'exhausted');
  t.deepEqual(runtime.mutations, []);
});

test('after the containers go the sandboxes that nothing needs; one that has a container is left alone', async (t) => {
  const world = emptyWorld();
  putSandbox(world, GONE, { state: 'notready' });
  const other = { ...GONE, uid: 'other' };
  putSandbox(world, other, { state: 'notready' });
  putContainer(world, 'stays', other);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.fail('removeContainer', 'failed', 'stays');
  const { events } = await collect(500);
  t.deepEqual(removed(events), ['sandbox-gone']);
  t.deepEqual(
    ofKind(events, 'removal-skipped').map(({ subject, why }) => [subject.id, why]),
    [['sandbox-other', 'a container belongs to it']],
  );
  t.deepEqual(runtime.targetsOf('stopSandbox'), ['sandbox-gone']);
});

test('many sandboxes that give nothing back are no sign of futility', async (t) => {
  const world = emptyWorld();
  for (let n = 0; n < 9; n += 1) putSandbox(world, { ...GONE, uid: `gone-${n}` }, { state: 'notready' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { result } = await collectorOf(world).collect(500);
  t.is(result.outcome, 'exhausted');
  t.true((result.removed.sandbox ?? 0) >= 5);
});

test('five removals without effect end the collecting', async (t) => {
  const world = emptyWorld();
  for (let n = 0; n < 12; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 0, inodes: 0, logPath: '' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { events, result } = await collectorOf(world).collect(500);
  t.is(result.outcome, 'no-effect');
  t.is(removed(events).length, 8);
});

test('removals whose space comes late are not called futile', async (t) => {
  const world = emptyWorld();
  world.lateBy = 600;
  for (let n = 0; n < 12; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 1, logPath: '' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { events, result } = await collectorOf(world).collect(500);
  t.is(result.outcome, 'exhausted');
  t.is(removed(events).length, 12);
});

test('the last dead containers of live pods go after those of pods that are gone; the kubelet keeps them', async (t) => {
  const world = emptyWorld();
  const pod = putPod(world, 'web');
  putContainer(world, 'live', pod, { createdAt: instant(1) });
  putContainer(world, 'app', pod, { state: 'running' });
  putContainer(world, 'orphan', GONE, { createdAt: instant(2) });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { gc } = collectorOf(world);
  const ours = await gc.planUnusedContainers(runFor(world, 500 * MIB));
  t.deepEqual(
    ours.map(({ subject }) => [subject.id, subject.label]),
    [
      ['orphan', 'default/gone/orphan'],
      ['live', 'default/web/live'],
    ],
  );
  const kubelets = await gc.planUnusedContainers(runFor(world, 500 * MIB, { profile: 'kubelet' }));
  t.deepEqual(
    kubelets.map(({ subject }) => subject.id),
    ['orphan'],
  );
});

test('under the kubelet profile all of it goes, one at a time, whatever the disk says', async (t) => {
  const world = emptyWorld();
  world.lateBy = 600;
  for (let n = 0; n < 12; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 0, inodes: 0, logPath: '' });
  const { runtime, collect } = collectorOf(world);
  runtime.latency = { removeContainer: 10 };
  const before = world.clock.now();
  const { result } = await collect(1, { profile: 'kubelet' });
  t.is(runtime.mostAtOnce, 1);
  t.is(result.outcome, 'exhausted');
  t.is(world.containers.size, 0);
  t.is(world.clock.now() - before, 120);
});

test('where inodes are short containers go one by one', async (t) => {
  const world = emptyWorld();
  for (let n = 0; n < 5; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 1, inodes: 100 });
  world.disks.imagefs.take({ bytes: 0, inodes: world.disks.imagefs.freeInodes - 50 });
  const { events, result } = await collectorOf(world).collect(0, {
    goals: [{ signal: 'imagefs.inodesFree', line: 200, target: 200 }],
  });
  t.is(result.outcome, 'reached');
  t.deepEqual(removed(events), ['dead-0', 'dead-1']);
});

test('a list that fails is told, and nothing goes', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'a', GONE);
  const { runtime, collect } = collectorOf(world);
  runtime.fail('listSandboxes', 'failed');
  const { events, result } = await collect(999);
  t.is(result.outcome, 'runtime-failed');
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['list-failed'],
  );
});

test('a runtime that is gone ends the collecting as lost, whether it goes before or in the middle', async (t) => {
  const world = emptyWorld();
  for (let n = 0; n < 9; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 1 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  runtime.isDown = true;
  t.is((await collect(500)).result.outcome, 'runtime-lost');
  runtime.isDown = false;
  runtime.beforeEffect = ({ call }) => {
    if (call === 'removeContainer') runtime.isDown = true;
  };
  const { events, result } = await collect(500);
  t.is(result.outcome, 'runtime-lost');
  t.true(world.containers.size >= 5);
  t.true(ofKind(events, 'removed').length > 0);
});

test('a list that fails before the sandboxes leaves them alone', async (t) => {
  const world = emptyWorld();
  putSandbox(world, GONE, { state: 'notready' });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, collect } = collectorOf(world);
  let lists = 0;
  runtime.beforeEffect = ({ call }) => {
    if (call === 'listContainers') lists += 1;
    if (lists === 1) runtime.fail('listContainers', 'failed');
  };
  const { events, result } = await collect(999);
  t.is(result.outcome, 'runtime-failed');
  t.is(ofKind(events, 'list-failed')[0]?.what, 'the users of what is to be removed');
  t.is(world.sandboxes.size, 1);
});

test('an abort ends the collecting between two batches', async (t) => {
  const world = emptyWorld();
  for (let n = 0; n < 9; n += 1) putContainer(world, `dead-${n}`, GONE, { mib: 1 });
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const abort = new AbortController();
  const { runtime, collect } = collectorOf(world);
  runtime.beforeEffect = ({ call }) => {
    if (call === 'removeContainer') abort.abort();
  };
  const { result } = await collect(500, { signal: abort.signal });
  t.is(result.outcome, 'aborted');
  t.is(world.containers.size, 8);
});

test('a thing thrown that is no error is told in its own words', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'a', GONE);
  world.disks.imagefs.fillUntilFree(40 * MIB);
  const { runtime, pods, collect } = collectorOf(world);
  pods.failure = new Error('the list of pods is unknown', { cause: new Error('refused') });
  t.is(ofKind((await collect(500)).events, 'list-failed')[0]?.message, 'the list of pods is unknown: refused');
  pods.failure = null;
  runtime.beforeEffect = ({ call }) => {
    // Rejecting with a text is rude, and happens.
    if (call === 'removeContainer') rudely('odd');
  };
  t.is(ofKind((await collect(500)).events, 'removal-failed')[0]?.message, 'odd');
});

function rudely(thrown: unknown): never {
  throw thrown;
}
