import test from 'ava';
import { createKillPodNow } from '../../src/reclaim/kill-pod-now.js';
import { milliseconds } from '../../src/units/units.js';
import { told } from '../fakes/collect-events.js';
import { FakeFiles } from '../fakes/fake-files.js';
import { ofKind } from '../fakes/fake-node.js';
import { FakePods } from '../fakes/fake-pods.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { PATHS } from '../fakes/fake-world.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

function scene(kubeletRuns = false) {
  const world = emptyWorld();
  const pod = putPod(world, 'web', { volumeMib: 50 });
  putContainer(world, 'app', pod, { state: 'running', mib: 20, logMib: 5 });
  putContainer(world, 'side', pod, { state: 'created', mib: 1 });
  putContainer(world, 'init', pod, { state: 'exited', mib: 1 });
  const other = putPod(world, 'other');
  putContainer(world, 'other-app', other, { state: 'running' });
  const runtime = new FakeRuntime(world);
  const files = new FakeFiles(world);
  const kill = createKillPodNow({
    runtime,
    files,
    clock: world.clock,
    podLogsDir: PATHS.logs,
    podVolumesDir: () => (kubeletRuns ? null : PATHS.volumes),
  });
  const run = async (grace = 1_000) => {
    const all = await new FakePods(world).list([...world.containers.values()], [...world.sandboxes.values()]);
    const record = all.find((each) => each.uid === 'web');
    if (record === undefined) throw new Error('the pod is not listed');
    return world.clock.run(told(kill(record, milliseconds(grace), new AbortController().signal)));
  };
  return { world, runtime, files, run };
}

test('a killed pod is gone with all it held, and nobody else is touched', async (t) => {
  const { world, runtime, run } = scene();
  const before = world.disks.nodefs.freeBytes;
  const { events, result } = await run();
  t.deepEqual(result, { kind: 'gone' });
  t.is(world.disks.nodefs.freeBytes - before, 77 * MIB);
  t.deepEqual([...world.containers.keys()], ['other-app']);
  t.deepEqual([...world.sandboxes.keys()], ['sandbox-other']);
  t.deepEqual(
    ofKind(events, 'removed').map(({ subject }) => [subject.what, subject.label]),
    [
      ['container', 'default/web/app'],
      ['container', 'default/web/side'],
      ['container', 'default/web/init'],
      ['sandbox', 'default/web'],
      ['pod-logs', 'default/web'],
      ['pod-volumes', 'default/web'],
    ],
  );
  t.deepEqual(
    runtime.calls.filter(({ call }) => call === 'stopContainer').map(({ target, grace }) => [target, grace]),
    [
      ['app', 1_000],
      ['side', 1_000],
    ],
  );
});

test('emptyDirs are left to the kubelet where one runs', async (t) => {
  const { world, run } = scene(true);
  const { events, result } = await run();
  t.is(result.kind, 'gone');
  t.is(world.volumes.size, 1);
  t.false(ofKind(events, 'removed').some(({ subject }) => subject.what === 'pod-volumes'));
});

test('a pod whose remains cannot be removed is ended and remains, and that is told', async (t) => {
  const { world, runtime, run } = scene();
  runtime.fail('removeContainer', 'failed', 'app');
  const { events, result } = await run();
  t.is(result.kind, 'remains');
  t.regex(result.kind === 'remains' ? result.message : '', /Cannot removeContainer/);
  t.deepEqual(
    ofKind(events, 'removal-failed').map(({ subject }) => subject.id),
    ['app'],
  );
  t.is(world.volumes.size, 0);
});

test('a stop that runs into its deadline leaves the pod still running, as far as anybody knows', async (t) => {
  const { world, runtime, run } = scene();
  runtime.fail('stopContainer', 'stuck', 'app');
  const { events, result } = await run();
  t.is(result.kind, 'still-running');
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['pod-lingers'],
  );
  t.true(world.containers.has('app'));
});

test('an OK of a stop proves nothing: the state counts', async (t) => {
  const { world, runtime, run } = scene();
  runtime.beforeEffect = ({ call }) => {
    if (call === 'listContainers') world.setState('app', 'unknown');
  };
  const { result } = await run();
  t.is(result.kind, 'still-running');
});

test('a stop that was refused outright is a failed kill', async (t) => {
  const { runtime, run } = scene();
  runtime.fail('stopContainer', 'permission-denied', 'app');
  const { result } = await run();
  t.is(result.kind, 'failed');
  t.regex(result.kind === 'failed' ? result.message : '', /1 of its containers/);
});

test('a stop that failed does not matter when the container is seen to be dead', async (t) => {
  const { world, runtime, run } = scene();
  runtime.fail('stopContainer', 'failed', 'app');
  runtime.beforeEffect = ({ call }) => {
    if (call === 'listContainers') world.setState('app', 'exited');
  };
  t.is((await run()).result.kind, 'gone');
});

test('a runtime that cannot be asked afterwards leaves it open how the kill went', async (t) => {
  const { runtime, run } = scene();
  runtime.fail('listSandboxes', 'unavailable');
  const { result } = await run();
  t.is(result.kind, 'unverified');
});

test('containers that the pod got meanwhile go too', async (t) => {
  const { world, runtime, run } = scene();
  runtime.beforeEffect = ({ call }) => {
    const pod = world.pods.get('web');
    if (call === 'stopSandbox' && pod !== undefined) putContainer(world, 'restarted', pod, { state: 'exited' });
  };
  t.is((await run()).result.kind, 'gone');
  t.false(world.containers.has('restarted'));
});
