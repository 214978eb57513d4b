import type { StoredValue } from '../../src/eviction/stored-value.js';
import { PortError } from '../../src/ports/port-error.js';
import type { Shelf, StoreChange, Stored, StoreNews, StorePort } from '../../src/ports/store.js';

/** What outlives a process, in memory. Give the same one to the next manager, and it is a restart. */
export class FakeStore implements StorePort {
  readonly shelves: Record<Shelf, Map<string, StoredValue>> = {
    manager: new Map(),
    images: new Map(),
    'removed-images': new Map(),
  };
  /** Every change that was handed over, in order. */
  readonly saved: StoreChange[] = [];
  readonly news: StoreNews[] = [];
  /** Why nothing can be loaded; null = it can. */
  unreadable: string | null = null;

  async load(): Promise<Stored> {
    if (this.unreadable !== null) throw new PortError(this.unreadable);
    const { manager, images, 'removed-images': removed } = this.shelves;
    return { manager: new Map(manager), images: new Map(images), 'removed-images': new Map(removed) };
  }

  save(changes: readonly StoreChange[]): void {
    this.saved.push(...changes);
    for (const { shelf, key, value } of changes) {
      if (value === undefined) this.shelves[shelf].delete(key);
      // As text, so that what JSON cannot hold does not come back here either.
      else this.shelves[shelf].set(key, JSON.parse(JSON.stringify(value)) as StoredValue); // what JSON holds
    }
  }

  takeNews(): readonly StoreNews[] {
    return this.news.splice(0);
  }
}
