import type { EvictionSettings } from '../eviction/assess.js';
import { filesystemsWithBallast, isFull, isReleaseDue, roomForBallast } from '../eviction/ballast.js';
import type { BallastReason, EvictionEvent } from '../eviction/event.js';
import { deviceUnder, type FsLayout } from '../eviction/layout.js';
import type { FilesystemName } from '../eviction/signal.js';
import type { EvictionState } from '../eviction/state.js';
import type { Ballast, BallastDisk } from '../reclaim/ballast.js';
import type { Instant } from '../units/units.js';
import type { Looker } from './look.js';

/** What keeping ballast asks of a pass. */
interface Pass {
  readonly deps: { readonly looker: Pick<Looker, 'placeOn' | 'lookAt'>; readonly ballast?: Ballast | null };
  readonly state: EvictionState;
  readonly settings: EvictionSettings;
  readonly layout: FsLayout;
  readonly abort: AbortSignal;
  now(): Instant;
  folding<Result>(events: AsyncGenerator<EvictionEvent, Result>): AsyncGenerator<EvictionEvent, Result>;
}

/** Releases the ballast of every disk that is full. Answers whether there was any: then what was seen is no longer so. */
export async function* releaseWhereFull(pass: Pass): AsyncGenerator<EvictionEvent, boolean> {
  const { ballast } = pass.deps;
  if (ballast === null || ballast === undefined) return false;
  let hasReleased = false;
  for (const filesystem of filesystemsWithBallast(pass.settings.thresholds, pass.layout)) {
    if (!isReleaseDue(filesystem, pass.state, pass.now())) continue;
    const disk = await diskOf(pass, filesystem);
    if (disk === null) continue;
    hasReleased = (yield* pass.folding(ballast.release(disk, 'disk-full'))) || hasReleased;
  }
  return hasReleased;
}

/**
 * Releases what the runtime may want room for: the ballast of all full disks, as it keeps its records on one disk and what it
 * removes on another; that of this filesystem where none is full.
 */
export async function* releaseFor(
  pass: Pass,
  filesystem: FilesystemName | null,
  reason: BallastReason,
): AsyncGenerator<EvictionEvent, boolean> {
  const { ballast } = pass.deps;
  if (ballast === null || ballast === undefined) return false;
  const disks: BallastDisk[] = [];
  for (const each of filesystemsWithBallast(pass.settings.thresholds, pass.layout)) {
    const disk = await diskOf(pass, each);
    if (disk !== null) disks.push(disk);
  }
  const seen = await Promise.all(disks.map(async (disk) => ({ disk, available: await disk.available() })));
  const full = seen.filter(({ available }) => available !== null && isFull(available)).map(({ disk }) => disk);
  const own = filesystem === null ? null : deviceUnder(filesystem, pass.layout);
  let hasReleased = false;
  for (const disk of full.length > 0 ? full : disks.filter((each) => each.filesystem === own)) {
    hasReleased = (yield* ballast.release(disk, reason)) || hasReleased;
  }
  return hasReleased;
}

/** Takes over what an earlier run has left, and lays what is missing where there is room. For passes that have nothing else to do. */
export async function* layWhereRoomy(pass: Pass): AsyncGenerator<EvictionEvent, void> {
  const { ballast } = pass.deps;
  if (ballast === null || ballast === undefined) return;
  for (const filesystem of filesystemsWithBallast(pass.settings.thresholds, pass.layout)) {
    if (pass.abort.aborted) return;
    const disk = await diskOf(pass, filesystem);
    if (disk === null) continue;
    const { settings, layout, state } = pass;
    const roomIn = (available: number) => roomForBallast(filesystem, ballast.size, available, state, settings, layout);
    yield* pass.folding(ballast.lay(disk, roomIn));
  }
}

async function diskOf(
  { deps: { looker } }: Pick<Pass, 'deps'>,
  filesystem: FilesystemName,
): Promise<BallastDisk | null> {
  const directory = await looker.placeOn(filesystem);
  if (directory === null) return null;
  const available = async () => {
    const look = await looker.lookAt(filesystem);
    return look.kind === 'reading' && look.capacity > 0 ? look.available : null;
  };
  return { filesystem, directory, available };
}
