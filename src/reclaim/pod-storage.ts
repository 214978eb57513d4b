import { localVolumeNames } from '../eviction/pod-spec.js';
import { type ContainerStats, type DiskUse, diskUsage, type PodStats } from '../eviction/pod-stats.js';
import type { TreeUsage } from '../ports/files.js';
import type { PodRecord } from '../ports/pods.js';
import type { ContainerUsage } from '../ports/runtime.js';
import { forEachBounded } from './image-volumes.js';
import { layerUsage } from './layer-usage.js';
import { CONCURRENCY, emptyDirs, type PodUsageDeps, podLogs, WALK_TIME, walk } from './pod-usage.js';
import { timeLimit } from './time-limit.js';

/**
 * Measures, now, what each pod keeps on disks, container by container and volume by volume, for the limits that they have of
 * their own. Null = cannot be told. Layers are the runtime's numbers, dead containers' too; logs and emptyDirs are walked.
 */
export async function measurePodStorage(
  deps: PodUsageDeps,
  pods: readonly PodRecord[],
  abort: AbortSignal,
): Promise<ReadonlyMap<string, PodStats | null>> {
  const layers = await layerUsage(deps.runtime, deps.clock, WALK_TIME, abort);
  const { signal, end } = timeLimit(deps.clock, WALK_TIME, abort);
  const measured = new Map<string, PodStats | null>();
  await forEachBounded(pods, CONCURRENCY, async (pod) => {
    measured.set(pod.uid, await measureOne(deps, pod, layers, signal));
  });
  end();
  return measured;
}

async function measureOne(
  deps: PodUsageDeps,
  pod: PodRecord,
  layers: ReadonlyMap<string, ContainerUsage>,
  signal: AbortSignal,
): Promise<PodStats | null> {
  const { spec } = pod;
  if (spec === null || spec === undefined) return null;
  const containers = await Promise.all(
    spec.containers.map(async ({ name }): Promise<ContainerStats> => {
      const logs = await walk(deps, `${podLogs(deps, pod)}/${name}`, signal);
      return { name, memoryWorkingSet: null, rootfs: layerOf(pod, name, layers), logs: useOf(logs) };
    }),
  );
  const volumes = await Promise.all(
    spec.volumes
      .filter(({ kind }) => kind === 'emptyDir')
      .map(async ({ name }) => ({ name, tree: await walk(deps, `${emptyDirs(deps, pod)}/${name}`, signal) })),
  );
  const seen = volumes.flatMap(({ name, tree }) => {
    const use = useOf(tree);
    return use === null ? [] : [{ name, use }];
  });
  if (seen.length === 0 && containers.every(({ rootfs, logs }) => rootfs === null && logs === null)) return null;
  const stats = { memoryWorkingSet: null, processes: null, ephemeralStorage: null, containers, volumes: seen };
  const local = localVolumeNames(spec);
  const all = diskUsage(stats, ['rootfs', 'logs', 'localVolumes'], 'bytes', (name) => local.has(name));
  return { ...stats, ephemeralStorage: all };
}

/** The layers of all attempts at one container: those that have ended hold their space as well. */
function layerOf(pod: PodRecord, name: string, layers: ReadonlyMap<string, ContainerUsage>): DiskUse | null {
  const known = pod.containers
    .filter((each) => each.name === name)
    .flatMap(({ id }) => layers.get(id)?.writableLayer ?? []);
  if (known.length === 0) return null;
  return {
    bytes: known.reduce((sum, { used }) => sum + used, 0),
    inodes: known.reduce((sum, { inodes }) => sum + (inodes ?? 0), 0),
  };
}

function useOf(tree: TreeUsage | null): DiskUse | null {
  return tree === null ? null : { bytes: tree.bytes, inodes: tree.inodes };
}
