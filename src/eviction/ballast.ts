import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import type { EvictionSettings } from './assess.js';
import { deviceUnder, type FsLayout } from './layout.js';
import { type FilesystemName, SIGNALS } from './signal.js';
import type { EvictionState } from './state.js';
import type { Sample } from './time-to-full.js';

/**
 * Below so much available a disk counts as full: XFS never says 0 (20 KiB are left when it takes nothing more, measured), and
 * what a runtime needs to record a removal or the end of a process is a few pages.
 */
const FULL_BELOW = 1024 * 1024;

/** How long there must have been room for ballast before it is laid: pressure that comes and goes is no time for it. */
const ROOMY_FOR = milliseconds(30_000);

/** A fall within this time is one that goes on: near a line looks are a tenth of a second apart. */
const FALLING_WITHIN = milliseconds(2_000);

/** Whether a disk takes next to nothing more. */
export function isFull(available: number): boolean {
  return available < FULL_BELOW;
}

/**
 * The filesystems that have ballast: one for each disk that a threshold watches, under the name of the first filesystem that
 * lies on it.
 */
export function filesystemsWithBallast(
  thresholds: EvictionSettings['thresholds'],
  layout: FsLayout,
): readonly FilesystemName[] {
  const watched = thresholds.flatMap(({ signal }) => {
    const { filesystem } = SIGNALS[signal];
    return filesystem === null ? [] : [deviceUnder(filesystem, layout)];
  });
  return [...new Set(watched)];
}

/**
 * Whether the ballast of a filesystem goes because the disk is full. While somebody is seen filling it, it is kept for the
 * moment that needs it, a removal or the end of a process that cannot be recorded: freed now it would be eaten at once.
 */
export function isReleaseDue(filesystem: FilesystemName, state: EvictionState, now: Instant): boolean {
  const seen = state.observations.get(`${filesystem}.available`);
  return seen !== undefined && isFull(seen.available) && !isFalling(state.samples.get(filesystem) ?? [], now);
}

function isFalling(samples: readonly Sample[], now: Instant): boolean {
  return samples.some((sample, index) => {
    const before = samples[index - 1];
    return before !== undefined && elapsed(before.at, now) <= FALLING_WITHIN && sample.available < before.available;
  });
}

/**
 * How many bytes more may be taken from the disk of a filesystem without coming near any of its lines; 0 while one of them is
 * missed, or cannot be seen. `size` stays free above the targets: laying ballast is no reason to release it.
 */
export function roomForBallast(
  filesystem: FilesystemName,
  size: number,
  available: number,
  state: EvictionState,
  settings: EvictionSettings,
  layout: FsLayout,
): number {
  let room = available - size;
  for (const threshold of settings.thresholds) {
    const { filesystem: its, unit } = SIGNALS[threshold.signal];
    if (its === null || deviceUnder(its, layout) !== filesystem || state.setAside.has(threshold.id)) continue;
    const seen = state.observations.get(threshold.signal);
    if (seen === undefined || state.pressing.has(threshold.id)) return 0;
    const { target } = settings.lines.lineOf(threshold, seen.capacity);
    // The file itself takes an inode.
    room = Math.min(room, unit === 'bytes' ? available - target - size : seen.available > target ? room : 0);
  }
  return Math.max(0, room);
}

/** Whether there has been room for long enough. `since` null = there is none now. */
export function isLayingDue(since: Instant | null, now: Instant): boolean {
  return since !== null && elapsed(since, now) >= ROOMY_FOR;
}

/** After a failure to lay it: long enough that whatever stands in the way is looked at by a person first. */
export const LAY_AGAIN_AFTER: Milliseconds = milliseconds(600_000);
