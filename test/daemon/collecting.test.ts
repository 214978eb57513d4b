import test from 'ava';
import { criPods } from '../../src/adapters/pods/cri-pods.js';
import { splitFlags } from '../../src/config/flags.js';
import { loadSettings } from '../../src/config/load.js';
import { type Collecting, collectingLoops, createImageCollector, imageKeepers } from '../../src/daemon/collecting.js';
import { watchKubelet } from '../../src/daemon/kubelet-watch.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { LogTree } from '../conformance/fakes/log-tree.js';
import { told } from '../conformance/fakes/run-events.js';
import { FakeFiles } from '../fakes/fake-files.js';
import { FakeMounts } from '../fakes/fake-mounts.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { FakeWorld } from '../fakes/fake-world.js';

async function scene(flags: readonly string[] = [], { kubeletRuns = false } = {}) {
  const loaded = loadSettings({ flags: splitFlags(flags) });
  if (loaded.kind === 'refused') throw new Error(loaded.problems.map((each) => each.message).join('; '));
  const { settings } = loaded;
  const world = new FakeWorld('one-disk', { bytes: 1_000, inodes: 10 });
  const { clock } = world;
  const runtime = new FakeRuntime(world);
  const node = { kubeletRuns };
  const end = new AbortController();
  const kubelet = await watchKubelet(() => Promise.resolve(node.kubeletRuns), clock, end.signal);
  const policy = POLICIES[settings.profile];
  const collecting = collectingLoops(
    {
      settings,
      policy,
      runtime,
      clock,
      pods: criPods(),
      files: new FakeFiles(world),
      logFiles: new LogTree(),
      mounts: new FakeMounts(world),
      imageCollector: createImageCollector({
        settings,
        policy,
        runtime,
        clock,
        ...imageKeepers(settings, runtime, { imageConfig: () => Promise.resolve(null) }, criPods()),
      }),
    },
    kubelet,
    end.signal,
  );
  return { clock, runtime, node, end, collecting };
}

function counts(collecting: Collecting): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(collecting).map(([what, loops]) => [what, loops.length]));
}

const runs = test.macro(
  async (t, flags: readonly string[], kubeletRuns: boolean, expected: Readonly<Record<keyof Collecting, number>>) => {
    const { collecting } = await scene(flags, { kubeletRuns });
    t.deepEqual(counts(collecting), expected);
  },
);
// Containers: the loop, the deletor, and what notices deaths.
test('without a kubelet all of it runs', runs, [], false, { containers: 3, images: 1, logRotation: 1 });
test('beside a kubelet none of it does', runs, [], true, { containers: 0, images: 0, logRotation: 0 });
test('images go beside a kubelet where that is asked for', runs, ['--periodic-images=always'], true, {
  containers: 0,
  images: 1,
  logRotation: 0,
});
test(
  'each can be left out',
  runs,
  ['--periodic-containers=never', '--periodic-images=never', '--log-rotation=never'],
  false,
  { containers: 0, images: 0, logRotation: 0 },
);
test('a negative size leaves logs alone', runs, ['--container-log-max-size=-1'], false, {
  containers: 3,
  images: 1,
  logRotation: 0,
});
test('at 100 percent and without an age images have nothing to do', runs, ['--image-gc-high-threshold=100'], false, {
  containers: 3,
  images: 0,
  logRotation: 1,
});
// The kubelet keeps one after a death, whatever was asked for.
for (const [why, flag] of [
  ['all dead containers are kept', '--maximum-dead-containers-per-container=-1'],
  ['dead containers have an age below which they stay', '--minimum-container-ttl-duration=1m'],
] as const) {
  test(`where ${why}, nothing goes right after a death`, runs, [flag], false, {
    containers: 1,
    images: 1,
    logRotation: 1,
  });
  test(`under the kubelet's profile it does where ${why}`, runs, ['--profile=kubelet', flag], false, {
    containers: 3,
    images: 1,
    logRotation: 1,
  });
}

test('a kubelet that comes later ends all of it for good, though it goes again', async (t) => {
  const { clock, runtime, node, end, collecting } = await scene();
  const ended = Promise.all(
    Object.values(collecting)
      .flat()
      .map((loop) => told(loop)),
  );
  await clock.pass(65_000);
  t.true(runtime.targetsOf('listContainers').length > 3);
  node.kubeletRuns = true;
  await clock.pass(60_000);
  await clock.run(ended);
  const before = runtime.calls.length;
  node.kubeletRuns = false;
  await clock.pass(600_000);
  t.is(runtime.calls.length, before);
  end.abort();
});

test('between two looks a kubelet that has come finds no log rotated under its hands', async (t) => {
  const { clock, runtime, node, end, collecting } = await scene();
  const rotation = Promise.all(collecting.logRotation.map((loop) => told(loop)));
  await clock.pass(5_000);
  const before = runtime.targetsOf('listContainers').length;
  t.true(before > 0);
  node.kubeletRuns = true;
  await clock.pass(10_000);
  t.is(runtime.targetsOf('listContainers').length, before);
  await clock.run(rotation);
  end.abort();
});
