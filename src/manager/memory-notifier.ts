import {
  describeNotifier,
  type MemoryScope,
  type MemoryUse,
  scopeOf,
  usageToWatch,
} from '../eviction/memory-notifier.js';
import type { Threshold } from '../eviction/threshold.js';
import type { Notifier } from './pass.js';

/** A watch that the kernel keeps: an event each time that the use of memory crosses the mark. */
export interface MemoryWatch {
  readonly events: AsyncIterable<unknown>;
  /** Ends it, and with it `events`. */
  stop(): void;
}

/** What a notifier needs from the world. */
export interface MemoryNotifierDeps {
  /** Has the kernel watch the use of memory, in bytes, of a scope. Throws when it refuses. */
  watch(scope: MemoryScope, usage: number): MemoryWatch;
  /** Asks for a pass now. */
  wake(): void;
}

/**
 * Has the kernel tell when a memory threshold is met, so that no pass has to find it: each event asks for a pass. Mirrors the
 * kubelet's `memoryThresholdNotifier`.
 */
export class MemoryNotifier implements Notifier {
  readonly description: string;
  readonly #threshold: Threshold;
  readonly #deps: MemoryNotifierDeps;
  #watch: MemoryWatch | null = null;
  /** Resolves when the events of the present watch have ended; rejects when they broke. */
  done: Promise<void> = Promise.resolve();

  constructor(threshold: Threshold, deps: MemoryNotifierDeps) {
    this.#threshold = threshold;
    this.#deps = deps;
    this.description = describeNotifier(threshold);
  }

  update(use: Readonly<Record<MemoryScope, MemoryUse>>): void {
    const scope = scopeOf(this.#threshold);
    const usage = usageToWatch(this.#threshold, use[scope]);
    if (usage === null)
      throw new Error(`Cannot watch memory as its usage, working set and available are needed: ${scope}`);
    this.stop();
    const watch = this.#deps.watch(scope, usage);
    this.#watch = watch;
    this.done = this.#listen(watch);
    // Whoever awaits it hears of a broken stream; nobody else is to be ended by it, since passes go on by themselves.
    this.done.catch(() => undefined);
  }

  /** Ends the watch. */
  stop(): void {
    this.#watch?.stop();
    this.#watch = null;
  }

  async #listen({ events }: MemoryWatch): Promise<void> {
    for await (const _ of events) this.#deps.wake();
  }
}
