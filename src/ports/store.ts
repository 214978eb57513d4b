import type { StoredValue } from '../eviction/stored-value.js';

/** Where entries lie; within a shelf the key names one. */
export type Shelf =
  /** What the manager would otherwise forget; the key is the name of a part, see `SAVED_PARTS`. */
  | 'manager'
  /** Images by record key (id, and runtime handler where that tells images apart). */
  | 'images'
  /** Images that we removed lately, by the same key. */
  | 'removed-images';

/** All shelves; one that is not among them does not exist. */
export const SHELVES: readonly Shelf[] = ['manager', 'images', 'removed-images'];

/** One entry that is new or has changed; `value: undefined` = it is there no longer. */
export interface StoreChange {
  readonly shelf: Shelf;
  readonly key: string;
  readonly value: StoredValue | undefined;
}

/** All that was saved. What it holds was written by another life of this program: its readers believe nothing of it. */
export type Stored = Readonly<Record<Shelf, ReadonlyMap<string, StoredValue>>>;

/** What befell the store itself; each is told once. */
export type StoreNews =
  /**
   * What lay there was no store of ours, or one of a newer version, and was renamed; or it vanished (`renamedTo` null). A new one was
   * begun, and all that is to be kept must be saved again.
   */
  | { readonly kind: 'begun-anew'; readonly message: string; readonly renamedTo: string | null }
  /** Cannot write for now; what is newest is kept in memory and tried again. `isFull`: for want of space. */
  | { readonly kind: 'not-writing'; readonly message: string; readonly isFull: boolean }
  /** Writes again, and has nothing left that it could not write. */
  | { readonly kind: 'writing-again' };

/**
 * Keeps a little over the end of the process, however that comes: last use of images, conditions, evictions under way. Nothing
 * waits for it but the first pass, and that not for long; nothing fails when it does. It holds entries and knows nothing of
 * what they mean, so a new one needs no change here. A history of events would be tables of its own in the same file, behind a
 * port of its own.
 *
 * A fake is three maps: `save` sets or deletes entries at once and `load` answers with copies. A process that "ends without
 * warning" in a test is one whose manager and collectors are thrown away and made anew with the same fake; whatever is not in
 * those maps is forgotten. See `FakeStore` in `test/fakes`.
 */
export interface StorePort {
  /** All that was saved. Rejects with a `PortError` when it cannot be read at all; an empty store is an answer. */
  load(): Promise<Stored>;
  /**
   * Takes changes over and returns at once. They are written together about once a second, whole or not at all; `now` asks not to
   * wait for that second. Of several changes to one entry the last counts.
   */
  save(changes: readonly StoreChange[], when: 'soon' | 'now'): void;
  /** What has befallen the store since last asked. */
  takeNews(): readonly StoreNews[];
}
