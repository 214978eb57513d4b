import { rm } from 'node:fs/promises';
import type { ContentStore } from './content-store.js';
import type { RuntimeState } from './state.js';
import { closing, pause, Serial } from './waiting.js';

/**
 * What the runtime no longer needs. Containers leave their directories here at once and the space comes back later;
 * removing an image collects everything that waits, which is how containerd behaves.
 */
export class Garbage {
  readonly #state: RuntimeState;
  readonly #content: ContentStore;
  readonly #delayMs: () => number;
  readonly #pending = new Set<string>();
  readonly #serial = new Serial();
  readonly #closing = closing();

  constructor(state: RuntimeState, content: ContentStore, delayMs: () => number) {
    this.#state = state;
    this.#content = content;
    this.#delayMs = delayMs;
  }

  /** Hands over directories whose space is to come back after the delay. */
  discard(directories: readonly string[]): void {
    for (const directory of directories) this.#pending.add(directory);
    void pause(this.#delayMs(), this.#closing.signal).then((over) => (over ? this.collect() : undefined));
  }

  /** Frees what nobody needs, now; resolves when it is free. */
  collect(): Promise<void> {
    return this.#serial.run(async () => {
      for (const directory of this.#pending) {
        await rm(directory, { recursive: true, force: true });
        this.#pending.delete(directory);
      }
      const blobs = new Set<string>();
      for (const image of this.#state.images.values()) for (const layer of image.layers) blobs.add(layer.digest);
      const snapshots = new Set(blobs);
      for (const container of [...this.#state.containers.values(), ...this.#state.lost.containers.values()]) {
        for (const digest of [...container.layers, ...container.volumeLayers]) snapshots.add(digest);
      }
      await this.#content.retain(blobs, snapshots);
    });
  }

  /** Runs work during which nothing is collected: a new image is not yet known while its layers come in. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#serial.run(work);
  }

  /** Resolves when the collection under way is over; what still waits goes with the disk. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#serial.run(async () => undefined);
  }
}
