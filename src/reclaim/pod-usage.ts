import type { FsLayout } from '../eviction/layout.js';
import { measuredParts } from '../eviction/pod-stats.js';
import { SIGNALS, type Signal } from '../eviction/signal.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort, TreeUsage } from '../ports/files.js';
import type { PodRecord } from '../ports/pods.js';
import type { ContainerUsage, RuntimePort } from '../ports/runtime.js';
import { milliseconds } from '../units/units.js';
import { forEachBounded } from './image-volumes.js';
import { layerUsage } from './layer-usage.js';
import { timeLimit } from './time-limit.js';

/** What measuring needs from the world. */
export interface PodUsageDeps {
  readonly runtime: Pick<RuntimePort, 'listContainerUsage'>;
  readonly files: FilesPort;
  readonly clock: Clock;
  readonly podLogsDir: string;
  /** `<root>/pods`, where the kubelet keeps pods' volumes. */
  readonly podVolumesDir: string;
}

/** A walk of one pod's directory ends after so many entries; what was counted until then is a lower bound. */
const MAX_ENTRIES = 200_000;
/** The runtime's answer and all walks end after so long each: a victim has to be found while the disk fills. */
export const WALK_TIME = milliseconds(1_000);
/** Pods that are walked at a time. */
export const CONCURRENCY = 4;

/**
 * Measures, now, what each pod uses of the starved filesystem, in the unit of the signal. Null = cannot be told: the pod is
 * unknown, not guilty. Writable layers come from the runtime, whose numbers are up to ten seconds old; logs and volumes are
 * walked.
 */
export async function measurePods(
  deps: PodUsageDeps,
  pods: readonly PodRecord[],
  signal: Signal,
  layout: FsLayout,
  abort: AbortSignal,
): Promise<ReadonlyMap<string, number | null>> {
  const { filesystem, unit } = SIGNALS[signal];
  if (filesystem === null) return memoryOf(deps, pods, signal, abort);
  const parts = measuredParts(signal, layout);
  const layers = parts.includes('rootfs')
    ? await layerUsage(deps.runtime, deps.clock, WALK_TIME, abort)
    : new Map<string, ContainerUsage>();
  const { signal: walkSignal, end } = timeLimit(deps.clock, WALK_TIME, abort);
  const measured = new Map<string, number | null>();
  await forEachBounded(pods, CONCURRENCY, async (pod) => {
    const layer = parts.includes('rootfs') ? layersOf(pod, layers, unit) : 0;
    const trees = await Promise.all([
      parts.includes('logs') ? walk(deps, podLogs(deps, pod), walkSignal) : null,
      parts.includes('localVolumes') ? walk(deps, emptyDirs(deps, pod), walkSignal) : null,
    ]);
    const walked = trees.reduce(
      (sum, tree) => sum + (tree === null ? 0 : unit === 'bytes' ? tree.bytes : tree.inodes),
      0,
    );
    measured.set(pod.uid, layer === null && walked === 0 ? null : (layer ?? 0) + walked);
  });
  end();
  return measured;
}

/** Working sets as the runtime reports them; processes of a pod are told by nobody here. */
async function memoryOf(
  deps: PodUsageDeps,
  pods: readonly PodRecord[],
  signal: Signal,
  abort: AbortSignal,
): Promise<ReadonlyMap<string, number | null>> {
  if (SIGNALS[signal].resource !== 'memory') return new Map();
  const usage = await layerUsage(deps.runtime, deps.clock, WALK_TIME, abort);
  return new Map(
    pods.map((pod) => {
      const known = pod.containers.flatMap(({ id }) => usage.get(id)?.memoryWorkingSet ?? []);
      return [pod.uid, known.length === 0 ? null : known.reduce<number>((sum, each) => sum + each, 0)];
    }),
  );
}

/** The sum of the layers that are known, dead containers' too; null when none is. */
function layersOf(pod: PodRecord, layers: ReadonlyMap<string, ContainerUsage>, unit: 'bytes' | 'count'): number | null {
  const known = pod.containers.flatMap(({ id }) => {
    const layer = layers.get(id)?.writableLayer ?? null;
    const value = layer === null ? null : unit === 'bytes' ? layer.used : layer.inodes;
    return value === null ? [] : [value];
  });
  return known.length === 0 ? null : known.reduce<number>((sum, each) => sum + each, 0);
}

/** Where a pod's logs lie, by container. */
export function podLogs({ podLogsDir }: PodUsageDeps, { namespace, name, uid }: PodRecord): string {
  return `${podLogsDir}/${namespace}_${name}_${uid}`;
}

/** Where a pod's emptyDirs lie, by volume. */
export function emptyDirs({ podVolumesDir }: PodUsageDeps, { uid }: PodRecord): string {
  return `${podVolumesDir}/${uid}/volumes/kubernetes.io~empty-dir`;
}

/** A directory that cannot be walked counts as nothing: the rest of the pod's numbers still tell something. */
export async function walk(deps: PodUsageDeps, path: string, signal: AbortSignal): Promise<TreeUsage | null> {
  return deps.files.usage(path, MAX_ENTRIES, signal).catch(() => null);
}
