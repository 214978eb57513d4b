import test from 'ava';
import type { PodRecord } from '../../src/ports/pods.js';
import { measurePodStorage } from '../../src/reclaim/pod-storage.js';
import { bytes, count } from '../../src/units/units.js';
import { FakeFiles } from '../fakes/fake-files.js';
import { FakePods } from '../fakes/fake-pods.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { PATHS } from '../fakes/fake-world.js';
import { containerSpec, podSpec } from '../fakes/pod-spec.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

const SPEC = podSpec({
  containers: [containerSpec('main')],
  volumes: [
    { kind: 'emptyDir', name: 'cache', medium: '', sizeLimit: null },
    { kind: 'emptyDir', name: 'shared', medium: 'Memory', sizeLimit: null },
    { kind: 'configMap', name: 'config' },
  ],
});
const EMPTY_DIRS = `${PATHS.volumes}/web/volumes/kubernetes.io~empty-dir`;

/** Every emptyDir holds 8 MiB. */
class FilesWithVolumes extends FakeFiles {
  override async usage(path: string, limit: number, signal?: AbortSignal) {
    if (path === `${EMPTY_DIRS}/cache` || path === `${EMPTY_DIRS}/shared`)
      return { bytes: bytes(8 * MIB), inodes: count(3), complete: true };
    return super.usage(path, limit, signal);
  }
}

async function measured(spec: PodRecord['spec'], told: 'usage' | 'nothing' = 'usage') {
  const world = emptyWorld();
  const web = putPod(world, 'web');
  putContainer(world, 'app', web, { state: 'running', mib: 20, logMib: 5, inodes: 7, told });
  putContainer(world, 'app-before', web, { mib: 3, inodes: 2, told, logPath: '' });
  const deps = {
    runtime: new FakeRuntime(world),
    files: told === 'nothing' ? new FakeFiles(world) : new FilesWithVolumes(world),
    clock: world.clock,
    podLogsDir: PATHS.logs,
    podVolumesDir: PATHS.volumes,
  };
  const all = await new FakePods(world).list([...world.containers.values()], [...world.sandboxes.values()]);
  const pods = all.map((pod) => ({ ...pod, ...(spec === undefined ? {} : { spec }) }));
  const stats = await world.clock.run(measurePodStorage(deps, pods, new AbortController().signal));
  return { stats: stats.get('web') };
}

test('layers of all attempts, logs and emptyDirs are measured one by one; what lies in memory is no part of the sum', async (t) => {
  const { stats } = await measured({ ...SPEC, containers: [containerSpec('app'), containerSpec('app-before')] });
  t.deepEqual(
    stats?.containers.map(({ name, rootfs, logs }) => [name, rootfs?.bytes, rootfs?.inodes, logs?.bytes]),
    [
      ['app', 20 * MIB, 7, 5 * MIB],
      ['app-before', 3 * MIB, 2, undefined],
    ],
  );
  t.deepEqual(
    stats?.volumes.map(({ name, use }) => [name, use.bytes]),
    [
      ['cache', 8 * MIB],
      ['shared', 8 * MIB],
    ],
  );
  t.is(stats?.ephemeralStorage, (20 + 3 + 5 + 8) * MIB);
});

test('a pod whose author’s words nobody knows is unknown, and so is one that nobody can measure', async (t) => {
  t.is((await measured(undefined)).stats, null);
  t.is((await measured(null)).stats, null);
  t.is((await measured(SPEC, 'nothing')).stats, null);
});
