import type { LayoutQuirk } from '../eviction/kubelet-quirks.js';
import { type Devices, type FsLayout, layoutOf } from '../eviction/layout.js';
import type { MemoryScope, MemoryUse } from '../eviction/memory-notifier.js';
import { type NoReading, observe, type Sight } from '../eviction/observe.js';
import type { PathLook } from '../eviction/path-look.js';
import type { Policy } from '../eviction/policy.js';
import type { FilesystemName } from '../eviction/signal.js';
import type { Clock } from '../ports/clock.js';
import type { MountsPort } from '../ports/mounts.js';
import type { NodeStatsPort, PodsMemory } from '../ports/node-stats.js';
import type { ImageFsInfo, RuntimePort } from '../ports/runtime.js';
import { lookWithFallback } from '../reclaim/look-with-fallback.js';
import { messageOf } from '../reclaim/removal.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';

/** What one look at the node found. */
export interface NodeLook {
  readonly sight: Sight;
  /** Null when the devices could not be told this time; the last known layout goes on. */
  readonly layout: FsLayout | null;
  /** What else the kubelet makes of it; absent = nothing. */
  readonly quirk?: LayoutQuirk | null;
  /** Memory in the terms of the kernel's notifications; absent = not asked for. */
  readonly memoryUse?: Readonly<Record<MemoryScope, MemoryUse>>;
  readonly problem: string | null;
  /** A path that the runtime reports and that does not exist, with the parent that is watched instead. */
  readonly fallbacks: readonly { readonly path: string; readonly used: string }[];
}

/** Looks at the filesystems, the memory and the processes of the node. */
export interface Looker {
  look(): Promise<NodeLook>;
  /** One filesystem alone, for the looks between removals. */
  lookAt(filesystem: FilesystemName): Promise<PathLook>;
  /** A directory for a file of ours on that filesystem, beside what the runtime or the kubelet keeps there; null = none is known now. */
  placeOn(filesystem: FilesystemName): Promise<string | null>;
}

/** What looking needs from the world. */
export interface LookerDeps {
  readonly mounts: MountsPort;
  readonly nodeStats: NodeStatsPort;
  readonly runtime: Pick<RuntimePort, 'imageFsInfo'>;
  readonly clock: Clock;
  /** The directory whose filesystem is nodefs. */
  readonly rootDir: string;
  /** How doubtful numbers are taken; absent = as in the reclaimd profile. */
  readonly doubtfulNumbers?: Policy['eviction']['doubtfulNumbers'];
}

/** After a failure the runtime is left alone for so long; else each look asks, as a data directory may move at any time. */
const ASK_AGAIN_AFTER = milliseconds(1_000);

/** The first look waits this long for the paths; a runtime that hangs must not blind the daemon on nodefs. */
const FIRST_ANSWER_WITHIN = milliseconds(500);
/** Later looks have the last answer to go on with. It comes from the runtime's memory, within a few milliseconds when it is well. */
const ANSWER_WITHIN = milliseconds(50);

type Paths = Readonly<Record<'imagefs' | 'containerfs', string>>;

/** Makes a looker. It remembers the runtime's paths, so that a runtime that is down blinds nobody. */
export function createLooker(deps: LookerDeps): Looker {
  let paths: Paths | null = null;
  let askedAt: Instant | null = null;
  let askEvery: Milliseconds = milliseconds(0);
  let asking: Promise<void> | null = null;
  let pathProblem: string | null = null;

  /** A runtime may hang: a look waits for the answer a little, and goes on with the last one; never two questions at a time. */
  async function refreshPaths(): Promise<void> {
    const now = deps.clock.now();
    if (askedAt !== null && elapsed(askedAt, now) < askEvery) return;
    if (asking !== null) return;
    askedAt = now;
    asking = deps.runtime
      .imageFsInfo()
      .then(
        (info) => {
          const told = pathsOf(info);
          paths = told ?? paths;
          pathProblem = told === null ? 'the runtime names no image filesystem' : null;
          askEvery = told === null ? ASK_AGAIN_AFTER : milliseconds(0);
        },
        (error: unknown) => {
          pathProblem = `the runtime does not say where images lie: ${messageOf(error)}`;
          askEvery = ASK_AGAIN_AFTER;
        },
      )
      .finally(() => {
        asking = null;
      });
    const answered = new AbortController();
    const wait = deps.clock.sleep(paths === null ? FIRST_ANSWER_WITHIN : ANSWER_WITHIN, answered.signal);
    await Promise.race([asking, wait]);
    answered.abort();
  }

  async function lookThere(filesystem: FilesystemName): Promise<{ look: PathLook; used: string; path: string }> {
    const path = filesystem === 'nodefs' ? deps.rootDir : paths?.[filesystem];
    if (path === undefined) {
      const message = pathProblem ?? 'the runtime has not said yet where images lie';
      return {
        look: { kind: 'error', path: filesystem, message, at: deps.clock.now() },
        used: filesystem,
        path: filesystem,
      };
    }
    const { look, used } = await lookWithFallback(deps.mounts, path, filesystem !== 'nodefs');
    return { look, used, path };
  }

  return {
    async look() {
      const stats = deps.nodeStats.read();
      await refreshPaths();
      const [nodefs, imagefs, containerfs] = await Promise.all([
        lookThere('nodefs'),
        lookThere('imagefs'),
        lookThere('containerfs'),
      ]);
      const { memory, podsMemory, pids } = await stats;
      const allocatableMemory = podsMemory.kind === 'reading' ? podsMemory.reading : noReading(podsMemory);
      const filesystems = sameNumbersOnOneDevice(nodefs.look, imagefs.look, containerfs.look);
      const devices = devicesOf(filesystems);
      return {
        sight: observe({ filesystems, memory, allocatableMemory, pids }, deps.doubtfulNumbers),
        layout: devices === null ? null : layoutOf(devices),
        problem: devices === null ? problemOf(filesystems) : null,
        fallbacks: [nodefs, imagefs, containerfs]
          .filter((each) => each.used !== each.path)
          .map(({ path, used }) => ({ path, used })),
        memoryUse: {
          node: memory ?? NOT_KNOWN,
          pods: podsMemory.kind === 'reading' ? podsMemory.reading : NOT_KNOWN,
        },
      };
    },
    lookAt: async (filesystem) => (await lookThere(filesystem)).look,
    async placeOn(filesystem) {
      const { look, used } = await lookThere(filesystem);
      if (look.kind !== 'reading') return null;
      if (filesystem === 'nodefs') return used;
      const parent = used.slice(0, used.lastIndexOf('/')) || '/';
      const above = await deps.mounts.look(parent);
      return above.kind === 'reading' && above.device === look.device ? parent : used;
    },
  };
}

const NOT_KNOWN: MemoryUse = { available: null, workingSet: null, usage: null };

/** A cgroup that nobody has made or limited is how the node is, and no fault. */
function noReading({ kind, why }: Exclude<PodsMemory, { kind: 'reading' }>): NoReading {
  return { reason: kind === 'absent' ? 'not-measurable' : 'no-reading', detail: why };
}

/** Filesystems on one device get one reading: two that were taken a moment apart could lie on both sides of a line. */
function sameNumbersOnOneDevice(
  nodefs: PathLook,
  imagefs: PathLook,
  containerfs: PathLook,
): Readonly<Record<FilesystemName, PathLook>> {
  const asOneOf = (look: PathLook, others: readonly PathLook[]): PathLook => {
    if (look.kind !== 'reading') return look;
    const same = others.filter((each) => each.kind === 'reading').find((each) => each.device === look.device);
    return same === undefined ? look : { ...same, readOnly: look.readOnly };
  };
  return { nodefs, imagefs: asOneOf(imagefs, [nodefs]), containerfs: asOneOf(containerfs, [nodefs, imagefs]) };
}

/** The first entry of each list counts; an empty container list means the images' filesystem, as containerd reports. */
function pathsOf(info: ImageFsInfo): Paths | null {
  const imagefs = info.imageFilesystems[0]?.mountpoint ?? null;
  if (imagefs === null) return null;
  return { imagefs, containerfs: info.containerFilesystems[0]?.mountpoint ?? imagefs };
}

function devicesOf(looks: Readonly<Record<FilesystemName, PathLook>>): Devices | null {
  const { nodefs, imagefs, containerfs } = looks;
  if (nodefs.kind !== 'reading' || imagefs.kind !== 'reading' || containerfs.kind !== 'reading') return null;
  return { nodefs: nodefs.device, imagefs: imagefs.device, containerfs: containerfs.device };
}

function problemOf(looks: Readonly<Record<FilesystemName, PathLook>>): string {
  return Object.entries(looks)
    .flatMap(([name, look]) => {
      switch (look.kind) {
        case 'reading':
          return [];
        case 'missing':
          return [`${name}: ${look.path} does not exist`];
        case 'error':
          return [`${name}: ${look.message}`];
        case 'hung':
          return [`${name}: ${look.path} does not answer`];
      }
    })
    .join('; ');
}
