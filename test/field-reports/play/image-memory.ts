import type { EarlierImage } from '../../../src/gc/image-collection.js';
import { type Memory, StateKeeper } from '../../../src/manager/state-keeper.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { StorePort } from '../../../src/ports/store.js';
import { Recorder } from '../../../src/reclaim/recorder.js';
import { RememberedImages } from '../../../src/reclaim/remembered-images.js';
import { instant } from '../../../src/units/units.js';
import type { ImageItem } from '../format/world-items.js';

/** What the world says that the manager has seen of images, by id: it keeps that over restarts. */
export class ImageSeeds {
  readonly #seeds = new Map<string, EarlierImage>();
  /** How often the world has said something. */
  said = 0;

  /** Takes the ages of listed images over, counted back from now. */
  sow(images: readonly ImageItem[], clock: Clock): void {
    const now = clock.now();
    for (const { id, seenAgo, usedAgo } of images) {
      this.#seeds.set(id, {
        firstDetected: instant(now - seenAgo),
        lastUsed: usedAgo === 'never' ? null : instant(now - usedAgo),
      });
    }
    this.said += 1;
  }

  of(id: string): EarlierImage | undefined {
    return this.#seeds.get(id);
  }
}

/** The real memory of a process, which takes what the world says for what it saw itself before. */
class SeededImages extends RememberedImages {
  readonly #seeds: ImageSeeds;
  #heard = 0;

  constructor(seeds: ImageSeeds, recorder: Recorder, clock: Clock) {
    super(recorder, clock);
    this.#seeds = seeds;
  }

  override takeRestored(): boolean {
    const isNew = this.#heard !== this.#seeds.said;
    this.#heard = this.#seeds.said;
    return super.takeRestored() || isNew;
  }

  override earlier(key: string): EarlierImage | undefined {
    const own = super.earlier(key);
    // One that was away and is listed again was seen as the world says.
    return own === undefined || own.firstDetected === null ? (this.#seeds.of(key) ?? own) : own;
  }
}

/** What a process remembers over a store, and what the world says that it has seen of images. */
export function seededMemory(store: StorePort, clock: Clock, seeds: ImageSeeds): Memory & { load(): Promise<void> } {
  const recorder = new Recorder(store, clock);
  const images = new SeededImages(seeds, recorder, clock);
  return {
    images,
    keeper: new StateKeeper({ recorder, clock, images }),
    async load() {
      images.restore(await recorder.load());
    },
  };
}
