import { dirname } from 'node:path';
import { directoriesIn } from '../adapters/host/directories.js';
import type { Settings } from '../config/settings.js';
import { deviceUnder, type FsLayout } from '../eviction/layout.js';
import type { FilesystemName } from '../eviction/signal.js';
import type { EvictionState } from '../eviction/state.js';
import { compileProtection } from '../gc/image-protection.js';
import { imagesInUse } from '../gc/image-use.js';
import { forbiddance } from '../gc/plan-images.js';
import { type SpaceAccount, type SpaceHolder, spaceAccount } from '../gc/space-account.js';
import type { TreeUsage } from '../ports/files.js';
import { messageOf, toError } from '../reclaim/removal.js';
import { milliseconds } from '../units/units.js';
import type { Parts } from './build.js';

/** Who holds the space of one disk, by the filesystem's name. */
export interface DiskAccount extends SpaceAccount {
  readonly filesystem: FilesystemName;
}

/** A walk ends after so many entries or so long, and what it has counted by then is a lower bound. */
const MOST_ENTRIES = 5_000_000;
const WALK_WITHIN = milliseconds(60_000);
/** A runtime's books are ten seconds old: what has been pulled meanwhile is in none of them. */
const NOISE = 64 * 1024 * 1024;
/** The namespace that Kubernetes' containers live in; what others hold is seen by no CRI call. */
const KUBERNETES = 'k8s.io';

interface Placed extends SpaceHolder {
  readonly on: FilesystemName;
}

/** Accounts of the disks that were seen, each device once. A part that cannot be told is a holder of unknown size. */
export async function accountsOf(
  settings: Settings,
  parts: Pick<Parts, 'runtime' | 'files' | 'processes'>,
  state: EvictionState,
): Promise<readonly DiskAccount[]> {
  const layout = state.layout ?? 'one-disk';
  const holders = [
    ...(await ofRuntime(settings, parts)),
    ...(await ofDirectories(settings, parts)),
    await ofDeletedFiles(parts),
  ];
  return (['nodefs', 'imagefs'] as const).flatMap((filesystem) => {
    const seen = state.observations.get(`${filesystem}.available`);
    if (seen === undefined || deviceUnder(filesystem, layout) !== filesystem) return [];
    return [{ filesystem, ...spaceAccount(seen, on(holders, filesystem, layout)) }];
  });
}

function on(holders: readonly Placed[], filesystem: FilesystemName, layout: FsLayout): readonly SpaceHolder[] {
  return holders.filter((each) => deviceUnder(each.on, layout) === filesystem).map(({ on: _, ...holder }) => holder);
}

async function ofRuntime(
  settings: Settings,
  { runtime, files }: Pick<Parts, 'runtime' | 'files'>,
): Promise<readonly Placed[]> {
  const [images, containers, usage, info] = await Promise.all([
    runtime.listImages(),
    runtime.listContainers(),
    runtime.listContainerUsage(),
    runtime.imageFsInfo(),
  ]);
  const state = new Map(containers.map((each) => [each.id, each.state]));
  const layers = (isDead: boolean) =>
    usage
      .filter((each) => (state.get(each.id) === 'exited') === isDead)
      .reduce((sum, each) => sum + (each.writableLayer?.used ?? 0), 0);
  const [alive, dead] = [layers(false), layers(true)];
  const use = imagesInUse(images, containers, { sandboxImage: settings.sandboxImage, volumes: [] });
  const protectedBy = compileProtection(settings.protectedImages);
  const unused = images.filter((each) => forbiddance(each, use, protectedBy) === null);
  const [first] = info.imageFilesystems;
  const place = first?.mountpoint ?? null;
  const snapshots = place === null ? null : await walk(files, place);
  const content = place === null ? null : await walk(files, `${dirname(place)}/io.containerd.content.v1.content`);
  const listed = images.reduce((sum, each) => sum + each.size, 0);
  const claimed = unused.reduce((sum, each) => sum + each.size, 0);
  const booked = first?.usedBytes ?? null;
  const onDisk = snapshots?.bytes ?? null;
  const surplus = onDisk === null || booked === null ? 0 : onDisk - booked;
  const leaked = surplus > Math.max(NOISE, (booked ?? 0) / 10) ? surplus : 0;
  const unpacked = onDisk === null ? null : Math.max(0, onDisk - alive - dead - leaked);
  return [
    {
      on: 'imagefs',
      what: 'image layers, unpacked',
      bytes: unpacked ?? listed,
      reclaimable: claimed,
      isLowerBound: snapshots?.isLowerBound ?? true,
      note: `${images.length} images, ${unused.length} of them unused and free to go, by what the runtime lists`,
    },
    ...(content === null || content.bytes === null
      ? []
      : [
          {
            on: 'imagefs' as const,
            what: 'image blobs',
            ...content,
            note: 'kept by containerd beside the unpacked layers',
          },
        ]),
    layerHolder('writable layers of dead containers', dead, dead),
    layerHolder('writable layers of other containers', alive, 0),
    ...(leaked > 0
      ? [
          {
            on: 'imagefs' as const,
            what: 'snapshots that the runtime does not know',
            bytes: leaked,
            reclaimable: null,
            isLowerBound: false,
            note: 'on the disk and in none of its books: leaked, or made within the last seconds',
          },
        ]
      : []),
    ...(place === null ? [] : await ofOtherNamespaces(place)),
  ];
}

function layerHolder(what: string, bytes: number, reclaimable: number): Placed {
  return { on: 'containerfs', what, bytes, reclaimable, isLowerBound: false, note: null };
}

/** Namespaces beside Kubernetes': their images and containers are counted in the layers, and no plan of ours touches them. */
async function ofOtherNamespaces(place: string): Promise<readonly Placed[]> {
  const names = await directoriesIn(`${dirname(place)}/io.containerd.runtime.v2.task`).catch(toError);
  const others = names instanceof Error ? [] : names.filter((each) => each !== KUBERNETES);
  if (!(names instanceof Error) && others.length === 0) return [];
  const note =
    names instanceof Error
      ? `other namespaces of containerd cannot be told: ${messageOf(names)}`
      : `containerd has containers in ${others.join(', ')} too: counted above, never collected`;
  return [{ on: 'imagefs', what: 'other namespaces', bytes: null, reclaimable: null, isLowerBound: false, note }];
}

async function ofDirectories(settings: Settings, { files }: Pick<Parts, 'files'>): Promise<readonly Placed[]> {
  const [logs, volumes] = await Promise.all([
    walk(files, settings.podLogsDir),
    walk(files, `${settings.rootDir}/pods`),
  ]);
  return [
    { on: 'nodefs', what: "pods' logs", ...logs, note: settings.podLogsDir },
    { on: 'nodefs', what: "pods' volumes", ...volumes, note: `${settings.rootDir}/pods` },
  ];
}

async function walk(
  files: Parts['files'],
  path: string,
): Promise<Pick<SpaceHolder, 'bytes' | 'reclaimable' | 'isLowerBound'>> {
  const usage: TreeUsage | null = await files.usage(path, MOST_ENTRIES, undefined, WALK_WITHIN).catch(() => null);
  return { bytes: usage?.bytes ?? null, reclaimable: null, isLowerBound: usage?.complete === false };
}

async function ofDeletedFiles({ runtime, processes }: Pick<Parts, 'runtime' | 'processes'>): Promise<Placed> {
  const running = (await runtime.listContainers()).filter((each) => each.state === 'running');
  const found = await processes.look(running.map((each) => each.id)).catch(toError);
  const what = 'deleted files that containers hold open';
  if (found instanceof Error) {
    return { on: 'nodefs', what, bytes: null, reclaimable: null, isLowerBound: false, note: messageOf(found) };
  }
  const held = [...found.values()].flatMap((each) => [...each.deletedOpen.values()]);
  return {
    on: 'nodefs',
    what,
    bytes: held.reduce((sum, each) => sum + each.bytes, 0),
    reclaimable: null,
    isLowerBound: [...found.values()].some((each) => !each.isComplete),
    note: 'only the end of those containers gives them back',
  };
}
