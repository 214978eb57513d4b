import type { EvictionEvent } from '../eviction/event.js';
import type { Clock } from '../ports/clock.js';
import type { RuntimeEvent, RuntimePort } from '../ports/runtime.js';
import type { ImageGC } from '../reclaim/image-gc.js';
import { messageOf } from '../reclaim/removal.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';

/** What watching the runtime needs. */
export interface WatchDeps {
  readonly runtime: Pick<RuntimePort, 'events' | 'identify'>;
  readonly imageGC: Pick<ImageGC, 'detectImages'>;
  readonly clock: Clock;
  /** Whether the runtime's events are listened to; absent = they are. Without them it is listed more often. */
  readonly usesEvents?: boolean;
  /** Hears each event. */
  readonly heard?: (event: RuntimeEvent) => void;
}

/** Without events the runtime is listed this often, so that the last use of images is known to ten seconds. */
const RELIST_EVERY = milliseconds(10_000);
/** With events a list from time to time is enough: events are hints and can be lost. */
const RELIST_WITH_EVENTS_EVERY = milliseconds(5 * 60_000);
/** A burst of events is answered by one list. */
const AT_MOST_EVERY = milliseconds(1_000);

/**
 * Keeps the knowledge of images and their users fresh: lists on events where the runtime has them, else on a timer, and says
 * when the runtime is lost and when it is back. Ends when `abort` does.
 */
export async function* watchRuntime(deps: WatchDeps, abort: AbortSignal): AsyncGenerator<EvictionEvent, void> {
  const hints = new Hints();
  let lostAt: Instant | null = null;
  let subscription: Promise<void> | null = null;
  const { usesEvents = true } = deps;
  let hasEvents = usesEvents;
  while (!abort.aborted) {
    // A stream that broke is tried again with each list; a runtime that has none is not asked again until it comes back anew.
    if (hasEvents) {
      subscription ??= subscribe(deps, hints, abort).then((end) => {
        subscription = null;
        hasEvents = end !== 'unsupported';
      });
    }
    try {
      await deps.imageGC.detectImages(abort);
      if (lostAt !== null) {
        const { name, version } = await deps.runtime.identify(abort);
        const now = deps.clock.now();
        yield { kind: 'runtime-back', at: now, name, version, downFor: elapsed(lostAt, now) };
        lostAt = null;
        hasEvents = usesEvents;
      }
    } catch (error) {
      if (abort.aborted) return;
      const now = deps.clock.now();
      if (lostAt === null) yield { kind: 'runtime-lost', at: now, message: messageOf(error) };
      lostAt ??= now;
    }
    await deps.clock.sleep(AT_MOST_EVERY, abort);
    // While the runtime is lost it is asked every second: what waits for it is the relief of a full disk.
    if (lostAt === null)
      await hints.next(deps.clock, hints.isSubscribed ? RELIST_WITH_EVENTS_EVERY : RELIST_EVERY, abort);
  }
}

async function subscribe(deps: WatchDeps, hints: Hints, abort: AbortSignal): Promise<'broken' | 'unsupported'> {
  try {
    for await (const event of deps.runtime.events(abort)) {
      hints.isSubscribed = true;
      deps.heard?.(event);
      // Right after subscribing the list that follows anyway sees what was missed meanwhile.
      if (event.kind !== 'subscribed') hints.give();
    }
    // It ends quietly only where there is none, or at our own end.
    return 'unsupported';
  } catch {
    // The list that follows meets the same fault and tells it; a broken stream is no news of its own.
    hints.give();
    return 'broken';
  } finally {
    hints.isSubscribed = false;
  }
}

/** A hint given while nobody waits is kept, once. */
class Hints {
  isSubscribed = false;
  #isGiven = false;
  #wake: (() => void) | null = null;

  give(): void {
    this.#isGiven = true;
    this.#wake?.();
  }

  async next(clock: Clock, limit: Milliseconds, abort: AbortSignal): Promise<void> {
    if (!this.#isGiven) {
      const woken = new AbortController();
      this.#wake = () => {
        woken.abort();
      };
      await clock.sleep(limit, AbortSignal.any([woken.signal, abort]));
      this.#wake = null;
    }
    this.#isGiven = false;
  }
}
