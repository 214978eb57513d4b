import type { Settings } from '../config/settings.js';
import { SIGNALS } from '../eviction/signal.js';
import { MemoryNotifier } from '../manager/memory-notifier.js';
import { type MemoryPollDeps, pollMemory } from '../manager/memory-poll.js';

/** One for each memory threshold, where the settings want them. Mirrors what the kubelet sets up in `Start`. */
export function memoryNotifiers(
  settings: Settings,
  deps: Omit<MemoryPollDeps, 'every'>,
  wake: () => void,
): readonly MemoryNotifier[] {
  if (!settings.kernelMemcgNotification) return [];
  const watch = pollMemory({ ...deps, every: settings.sampling.fastest });
  return settings.thresholds
    .filter(({ signal }) => SIGNALS[signal].resource === 'memory')
    .map((threshold) => new MemoryNotifier(threshold, { watch, wake }));
}
