import type { MemoryScope } from '../eviction/memory-notifier.js';
import type { Clock } from '../ports/clock.js';
import type { NodeStatsPort } from '../ports/node-stats.js';
import type { Milliseconds } from '../units/units.js';
import type { MemoryNotifierDeps } from './memory-notifier.js';

/** What polling needs from the world. */
export interface MemoryPollDeps {
  readonly nodeStats: Pick<NodeStatsPort, 'memoryUsage'>;
  readonly clock: Clock;
  /** The pause between two readings of one watch. */
  readonly every: Milliseconds;
}

/**
 * Watches the use of memory by reading it, where the kubelet has the kernel tell: an eventfd, which that needs, is nothing that
 * Node can make, and version 2 of cgroups tells no crossings at all. A watch tells each time that the use rises above its mark.
 */
export function pollMemory(deps: MemoryPollDeps): MemoryNotifierDeps['watch'] {
  return (scope, mark) => {
    const abort = new AbortController();
    return {
      events: crossings(deps, scope, mark, abort.signal),
      stop: () => {
        abort.abort();
      },
    };
  };
}

/** What is above the mark at the first reading has not crossed it here: the pass that set the watch has seen it. */
async function* crossings(
  { nodeStats, clock, every }: MemoryPollDeps,
  scope: MemoryScope,
  mark: number,
  signal: AbortSignal,
): AsyncGenerator<number, void> {
  let wasAbove = true;
  while (!signal.aborted) {
    // What cannot be read is told by the passes, whose signal is unknown then; until it can be, the last answer stands.
    const usage = await nodeStats.memoryUsage(scope).catch(() => null);
    if (signal.aborted) return;
    if (usage !== null) {
      const isAbove = usage > mark;
      if (isAbove && !wasAbove) yield usage;
      wasAbove = isAbove;
    }
    await clock.sleep(every, signal);
  }
}
