import type { EvictionEvent } from '../eviction/event.js';
import { recallState, SAVED_PART_LIST } from '../eviction/saved-state.js';
import type { EvictionState } from '../eviction/state.js';
import type { Threshold } from '../eviction/threshold.js';
import { type TimeFrame, toWall } from '../eviction/wall-time.js';
import type { Clock } from '../ports/clock.js';
import type { StoreChange, StoreNews, StorePort } from '../ports/store.js';
import { type Past, Recorder } from '../reclaim/recorder.js';
import { RememberedImages } from '../reclaim/remembered-images.js';
import { messageOf, toError } from '../reclaim/removal.js';
import { type Instant, milliseconds } from '../units/units.js';

/** What keeping the state needs. */
interface StateKeeperDeps {
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly images: RememberedImages;
}

/** What remembers, over one store: the keeper for the manager, the images for the collectors. One of each for a process. */
export interface Memory {
  readonly keeper: StateKeeper;
  readonly images: RememberedImages;
}

/** Makes what remembers. What was saved is read by the first pass. */
export function createMemory(store: StorePort, clock: Clock): Memory {
  const recorder = new Recorder(store, clock);
  const images = new RememberedImages(recorder, clock);
  return { images, keeper: new StateKeeper({ recorder, clock, images }) };
}

/** The first pass waits so long for what was saved; a store on a disk that hangs must not keep it from protecting the node. */
const RECALLED_WITHIN = milliseconds(2_000);

/** Brings back what an earlier life of the manager has saved, and saves what is new in the state. */
export class StateKeeper {
  readonly #deps: StateKeeperDeps;
  #past: Past | Error | null = null;
  #hasWaited = false;
  #isRecalled = false;
  #noted: EvictionState | null = null;
  #frame: TimeFrame | null = null;
  #thresholds: readonly Threshold[] | null = null;
  /** What lies in the store, by part. */
  readonly #texts = new Map<string, string>();

  constructor(deps: StateKeeperDeps) {
    this.#deps = deps;
  }

  /** Tells what was saved as an event to be folded, once; nothing as long as it is not known. The first call waits for it a little. */
  async *recall(thresholds: readonly Threshold[]): AsyncGenerator<EvictionEvent, void> {
    if (this.#isRecalled) return;
    const past = await this.#whenLoaded();
    const { clock, images } = this.#deps;
    if (past === null) return;
    this.#isRecalled = true;
    const at = clock.now();
    if (past instanceof Error) {
      images.restore(null);
      yield { kind: 'store-trouble', at, trouble: 'unreadable', message: messageOf(past) };
      return;
    }
    const { remembered, notUnderstood } = recallState(past.stored.manager, { thresholds, ...past });
    const restored = images.restore(past);
    for (const [name, value] of past.stored.manager) this.#texts.set(name, JSON.stringify(value));
    const problems = [
      ...notUnderstood,
      ...(restored.notUnderstood > 0 ? [`${restored.notUnderstood} entries of images`] : []),
    ];
    if (problems.length > 0) {
      yield { kind: 'store-trouble', at, trouble: 'not-understood', message: problems.join('; ') };
    }
    const isEmpty = past.stored.manager.size === 0 && restored.images === 0;
    if (isEmpty) return;
    yield { kind: 'restored', at, remembered, images: restored.images };
  }

  /** Saves what is new in the state. Nearly free as long as nothing is. */
  note(state: EvictionState, thresholds: readonly Threshold[]): void {
    if (!this.#isRecalled || state === this.#noted) return;
    const frame = this.#deps.recorder.frame();
    const before = frame === this.#frame && thresholds === this.#thresholds ? this.#noted : null;
    this.#noted = state;
    this.#frame = frame;
    this.#thresholds = thresholds;
    const saving = { thresholds, toWall: (at: Instant) => toWall(at, frame) };
    const changes: StoreChange[] = [];
    for (const [key, part] of SAVED_PART_LIST) {
      if (before !== null && part.fields.every((field) => before[field] === state[field])) continue;
      const value = part.save(state, saving);
      const text = value === undefined ? undefined : JSON.stringify(value);
      if (text === this.#texts.get(key)) continue;
      changes.push({ shelf: 'manager', key, value });
      if (text === undefined) this.#texts.delete(key);
      else this.#texts.set(key, text);
    }
    // Before a pod is told to end that should be on its way to the disk.
    this.#deps.recorder.save(changes, frame, state.ending === null ? 'soon' : 'now');
  }

  /** What has befallen the store since last asked. */
  takeNews(): readonly EvictionEvent[] {
    const { recorder, clock } = this.#deps;
    const news = recorder.takeNews();
    if (news.some(({ kind }) => kind === 'begun-anew')) {
      // Nothing of what was saved lies there any more.
      this.#texts.clear();
      this.#noted = null;
      recorder.beginAnew();
    }
    return news.map((each) => eventOf(each, clock.now()));
  }

  /** Null while it is not known; then what was saved, or why that cannot be read. */
  async #whenLoaded(): Promise<Past | Error | null> {
    if (this.#hasWaited) return this.#past;
    this.#hasWaited = true;
    const loaded = new AbortController();
    const loading = this.#deps.recorder
      .load()
      .catch(toError)
      .then((past) => {
        this.#past = past;
        loaded.abort();
      });
    await Promise.race([loading, this.#deps.clock.sleep(RECALLED_WITHIN, loaded.signal)]);
    return this.#past;
  }
}

function eventOf(news: StoreNews, at: Instant): EvictionEvent {
  switch (news.kind) {
    case 'begun-anew':
      return {
        kind: 'store-trouble',
        at,
        trouble: 'set-aside',
        message: news.renamedTo === null ? news.message : `${news.message}; renamed to ${news.renamedTo}`,
      };
    case 'not-writing':
      return { kind: 'store-trouble', at, trouble: news.isFull ? 'full' : 'not-writing', message: news.message };
    case 'writing-again':
      return { kind: 'store-mended', at };
  }
}
