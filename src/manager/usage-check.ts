import type { EvictionEvent } from '../eviction/event.js';
import { deviceUnder } from '../eviction/layout.js';
import type { FilesystemName, Signal } from '../eviction/signal.js';
import { elapsed, milliseconds } from '../units/units.js';
import { activePods, possibleUsage } from './candidates.js';
import type { Pass } from './pass.js';

/** Usage that nobody acts on is asked for this often, as often as a kubelet walks volumes. */
const CHECK_EVERY = milliseconds(60_000);
const FILESYSTEMS = ['nodefs', 'imagefs', 'containerfs'] as const satisfies readonly FilesystemName[];

/**
 * Reads, while nothing presses, what pods are said to use: a number that cannot be true is better known before the ranking needs
 * it. It triggers nothing. A failure to ask is no news here: passes under pressure tell it.
 */
export async function* checkUsage(pass: Pass): AsyncGenerator<EvictionEvent, void> {
  const { deps, state } = pass;
  const isRecent = state.usageCheckedAt !== null && elapsed(state.usageCheckedAt, pass.now()) < CHECK_EVERY;
  if (deps.warnings === undefined || (isRecent && deps.isSingle !== true)) return;
  yield* pass.tell({ kind: 'usage-checked', at: pass.now() });
  const pods = await activePods(pass).catch(() => []);
  if (pods.length === 0) return;
  const disks = new Set(FILESYSTEMS.map((filesystem) => deviceUnder(filesystem, pass.layout)));
  for (const filesystem of disks) {
    const signal: Signal = `${filesystem}.available`;
    if (pass.abort.aborted || !pass.state.observations.has(signal)) continue;
    const measured = await deps.measurePods(pods, signal, pass.layout, pass.abort).catch(() => null);
    if (measured !== null) yield* possibleUsage(pass, signal, pods, measured);
  }
}
