import { systemClock } from '../adapters/host/clock.js';
import { type HostInventory, hostInventory } from '../adapters/host/inventory.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import type { Settings } from '../config/settings.js';
import type { EvictionEvent } from '../eviction/event.js';
import type { EvictionState } from '../eviction/state.js';
import type { CycleMode } from '../manager/cycle.js';
import { buildParts } from './build.js';
import { endpointOf } from './endpoint.js';
import { holdRuntime } from './run.js';

/** What one pass told, and the state after it. */
export interface PassResult {
  readonly events: readonly EvictionEvent[];
  readonly state: EvictionState;
  readonly endpoint: string;
  /** What the host's own tools say of its disks; null in a pass for real. */
  readonly inventory: HostInventory | null;
}

/**
 * Makes one pass, for real or dry, and ends. Throws a `PortError` when there is no runtime to ask; a dry run changes nothing
 * and needs no lock, so it goes beside a daemon.
 */
export async function onePass(
  settings: Settings,
  mode: CycleMode,
  pathExists: (path: string) => boolean,
  hear: (event: EvictionEvent) => void = () => {},
  abort?: AbortSignal,
): Promise<PassResult> {
  const endpoint = endpointOf(settings, pathExists);
  await using _lock = mode === 'act' ? await holdRuntime(endpoint) : null;
  const kubeletRuns = await hostNodeStats({ clock: systemClock() }).kubeletRuns();
  await using parts = buildParts(settings, {
    endpoint,
    kubeletRuns: () => kubeletRuns,
    changesNothing: mode === 'dry-run',
  });
  await parts.runtime.identify();
  const inventory = mode === 'dry-run' ? await hostInventory() : null;
  const events: EvictionEvent[] = [];
  abort?.addEventListener('abort', () => {
    parts.manager.stop();
  });
  for await (const event of parts.manager.once(mode)) {
    events.push(event);
    hear(event);
  }
  if (mode === 'act') {
    for await (const event of parts.manager.settle()) {
      events.push(event);
      hear(event);
    }
  }
  return { events, state: parts.manager.state, endpoint, inventory };
}
