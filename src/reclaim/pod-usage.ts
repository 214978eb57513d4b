import type { DeviceId, FsLayout } from '../eviction/layout.js';
import { measuredParts } from '../eviction/pod-stats.js';
import { type FilesystemName, SIGNALS, type Signal } from '../eviction/signal.js';
import { type PodUsage, totalOf, type UsagePart, type UsageSource, wholeUsage } from '../eviction/usage.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerProcesses, ContainerProcessesPort } from '../ports/container-processes.js';
import type { FilesPort, TreeUsage } from '../ports/files.js';
import type { PodRecord } from '../ports/pods.js';
import type { ContainerRecord, ContainerUsage, RuntimePort } from '../ports/runtime.js';
import { elapsed, milliseconds } from '../units/units.js';
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
  /** Finds layers to walk and files without a name; absent = layers are what the runtime says, and nobody knows of the rest. */
  readonly processes?: Pick<ContainerProcessesPort, 'look'>;
  /** The device under a filesystem, to tell which of the deleted files lie there; null = not known. */
  deviceOf?(filesystem: FilesystemName): Promise<DeviceId | null>;
}

/** A walk of one directory ends after so many entries; what was counted until then is a lower bound. */
const MAX_ENTRIES = 200_000;
/** The runtime's answer and all walks end after so long each: a victim has to be found while the disk fills. */
export const WALK_TIME = milliseconds(1_000);
/** A walk that is told to end answers with what it has; one that does not hangs on a dead disk, and is given up after this. */
const LAST_ANSWER = milliseconds(100);
/** Pods that are walked at a time. */
export const CONCURRENCY = 4;

type Unit = (typeof SIGNALS)[Signal]['unit'];

/** What one measuring works with. */
interface Measuring {
  readonly deps: PodUsageDeps;
  readonly unit: Unit;
  readonly layers: Promise<ReadonlyMap<string, ContainerUsage>>;
  readonly processes: Promise<ReadonlyMap<string, ContainerProcesses>>;
  readonly device: Promise<DeviceId | null>;
  readonly within: typeof WALK_TIME;
  readonly signal: AbortSignal;
}

const NO_LAYERS = Promise.resolve(new Map<string, ContainerUsage>());

/**
 * Measures, now, what each pod uses of the starved filesystem, in the unit of the signal, source by source. A total of null =
 * cannot be told: the pod is unknown, not guilty. Logs, disk-backed emptyDirs and the layers that are found are walked; other
 * layers, and those of dead containers, are the runtime's numbers, up to ten seconds old. What belongs to nobody but the pod
 * counts: neither what lies on the host, nor in memory.
 */
export async function measurePods(
  deps: PodUsageDeps,
  pods: readonly PodRecord[],
  signal: Signal,
  layout: FsLayout,
  abort: AbortSignal,
  within = WALK_TIME,
): Promise<ReadonlyMap<string, PodUsage>> {
  const { filesystem, unit } = SIGNALS[signal];
  if (filesystem === null) return memoryOf(deps, pods, signal, abort);
  const parts = measuredParts(signal, layout);
  const limit = timeLimit(deps.clock, milliseconds(within + LAST_ANSWER), abort);
  const measuring: Measuring = {
    deps,
    unit,
    within,
    signal: limit.signal,
    // Side by side with the walks: a runtime that is slow on a full disk holds up nobody whose layers are found.
    layers: parts.includes('rootfs') ? layerUsage(deps.runtime, deps.clock, within, limit.signal) : NO_LAYERS,
    processes: processesOf(deps, pods, limit.signal),
    device: deps.deviceOf?.(filesystem).catch(() => null) ?? Promise.resolve(null),
  };
  const measured = new Map<string, PodUsage>();
  await forEachBounded(pods, CONCURRENCY, async (pod) => {
    const counted = await Promise.all([
      parts.includes('rootfs') ? liveLayers(measuring, pod) : null,
      parts.includes('rootfs') ? deadLayers(measuring, pod) : null,
      parts.includes('logs') ? walked(measuring, 'logs', [podLogs(deps, pod)]) : null,
      parts.includes('localVolumes') ? emptyDirsOf(measuring, pod) : null,
      deletedOpen(measuring, pod),
    ]);
    measured.set(pod.uid, usageOf(counted.filter((part) => part !== null)));
  });
  limit.end();
  return measured;
}

/** Where no layer is known and nothing was found, nothing is known: the layer is where most of a pod's files may be. */
function usageOf(parts: readonly UsagePart[]): PodUsage {
  // On a disk where nothing of a pod lies there is nothing to be known.
  if (parts.length === 0) return { total: 0, parts };
  const total = totalOf(parts);
  const isBlind = parts.some(({ source, amount }) => source === 'layers' && amount === null);
  return { total: isBlind && total === 0 ? null : total, parts };
}

/** Working sets as the runtime reports them; processes of a pod are told by nobody here. */
async function memoryOf(
  deps: PodUsageDeps,
  pods: readonly PodRecord[],
  signal: Signal,
  abort: AbortSignal,
): Promise<ReadonlyMap<string, PodUsage>> {
  if (SIGNALS[signal].resource !== 'memory') return new Map();
  const usage = await layerUsage(deps.runtime, deps.clock, WALK_TIME, abort);
  return new Map(
    pods.map((pod) => {
      const known = pod.containers.flatMap(({ id }) => usage.get(id)?.memoryWorkingSet ?? []);
      return [pod.uid, wholeUsage(known.length === 0 ? null : known.reduce<number>((sum, each) => sum + each, 0))];
    }),
  );
}

/** Without it everything is known but what it alone can tell. */
async function processesOf(
  { processes }: PodUsageDeps,
  pods: readonly PodRecord[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ContainerProcesses>> {
  const ids = pods.flatMap((pod) => pod.containers.filter((each) => !isDead(each)).map(({ id }) => id));
  if (processes === undefined || ids.length === 0) return new Map();
  return processes.look(ids, signal).catch(() => new Map());
}

/** A layer that is found is walked; of any other the runtime's number is told with its age. */
async function liveLayers(measuring: Measuring, pod: PodRecord): Promise<UsagePart | null> {
  const live = pod.containers.filter((each) => !isDead(each));
  const processes = await measuring.processes;
  const parts = await Promise.all(
    live.map(async ({ id }): Promise<UsagePart> => {
      const directory = processes.get(id)?.layerDirectory ?? null;
      const own = directory === null ? null : await walked(measuring, 'layers', [directory]);
      return own !== null && own.amount !== null ? own : toldLayer(measuring, 'layers', id);
    }),
  );
  return together(parts);
}

/** What has ended writes no more, so the runtime's last number is as good as a walk. */
async function deadLayers(measuring: Measuring, pod: PodRecord): Promise<UsagePart | null> {
  const dead = pod.containers.filter(isDead);
  return together(await Promise.all(dead.map(({ id }) => toldLayer(measuring, 'dead-containers', id))));
}

async function toldLayer({ layers, unit, deps }: Measuring, source: UsageSource, id: string): Promise<UsagePart> {
  const layer = (await layers).get(id)?.writableLayer ?? null;
  const amount = layer === null ? null : unit === 'bytes' ? layer.used : layer.inodes;
  const age = layer === null ? null : elapsed(layer.at, deps.clock.wall());
  return { source, amount, by: 'runtime', age, isComplete: amount !== null };
}

/** A missing directory holds nothing; one that cannot be walked, nobody knows how much. */
async function walked(measuring: Measuring, source: UsageSource, paths: readonly string[]): Promise<UsagePart | null> {
  const { deps, within, signal, unit } = measuring;
  const parts = await Promise.all(
    paths.map(async (path): Promise<UsagePart> => {
      const tree = await deps.files
        .usage(path, MAX_ENTRIES, signal, within)
        .then((found) => found ?? NOTHING)
        .catch(() => null);
      const amount = tree === null ? null : unit === 'bytes' ? tree.bytes : tree.inodes;
      return { source, amount, by: 'walk', age: milliseconds(0), isComplete: tree?.complete ?? false };
    }),
  );
  return together(parts);
}

/** Volume by volume where their names are known, so that a message can say which one it is; what lies in memory is on no disk. */
async function emptyDirsOf(measuring: Measuring, pod: PodRecord): Promise<UsagePart | null> {
  const directory = emptyDirs(measuring.deps, pod);
  const { spec = null } = pod;
  if (spec === null) return walked(measuring, 'emptyDirs', [directory]);
  const names = spec.volumes.flatMap((each) => (each.kind === 'emptyDir' && each.medium === '' ? [each.name] : []));
  const parts = await Promise.all(
    names.map(async (name) => ({ name, part: await walked(measuring, 'emptyDirs', [`${directory}/${name}`]) })),
  );
  const whole = together(parts.flatMap(({ part }) => part ?? []));
  return whole === null
    ? null
    : { ...whole, volumes: parts.map(({ name, part }) => ({ name, amount: part?.amount ?? null })) };
}

const NOTHING = { bytes: 0, inodes: 0, complete: true };

async function deletedOpen(measuring: Measuring, pod: PodRecord): Promise<UsagePart | null> {
  const [processes, device] = await Promise.all([measuring.processes, measuring.device]);
  const { unit } = measuring;
  const seen = pod.containers.flatMap(({ id }) => processes.get(id) ?? []);
  if (device === null || seen.length === 0) return null;
  const held = seen.map(({ deletedOpen: byDevice }) => byDevice.get(device) ?? { bytes: 0, inodes: 0 });
  return {
    source: 'deleted-open',
    amount: held.reduce((sum, each) => sum + (unit === 'bytes' ? each.bytes : each.inodes), 0),
    by: 'open-files',
    age: milliseconds(0),
    isComplete: seen.every(({ isComplete }) => isComplete),
  };
}

/** Several counts of one source as one: as old as the oldest, and a lower bound if one of them is. */
function together(parts: readonly UsagePart[]): UsagePart | null {
  const [first] = parts;
  if (first === undefined) return null;
  const ages = parts.flatMap(({ age }) => age ?? []);
  return {
    source: first.source,
    amount: totalOf(parts),
    by: parts.find(({ by }) => by === 'runtime')?.by ?? first.by,
    age: ages.length === 0 ? null : milliseconds(Math.max(...ages)),
    isComplete: parts.every(({ isComplete }) => isComplete),
  };
}

function isDead({ state }: ContainerRecord): boolean {
  return state === 'exited';
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
