import type { EvictionEvent } from '../../src/eviction/event.js';

/** Runs a generator of events to its end; answers with its events and its result. */
export async function told<Result>(
  story: AsyncGenerator<EvictionEvent, Result>,
): Promise<{ readonly events: readonly EvictionEvent[]; readonly result: Result }> {
  const events: EvictionEvent[] = [];
  for (;;) {
    const next = await story.next();
    if (next.done === true) return { events, result: next.value };
    events.push(next.value);
  }
}
