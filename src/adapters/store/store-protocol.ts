import type { Shelf } from '../../ports/store.js';

/** One entry with its value as JSON; null = it goes. */
export type EntryText = readonly [shelf: Shelf, key: string, value: string | null];

/** Where the state file is, and whether it may be changed. */
export interface FileChoice {
  readonly path: string;
  readonly readOnly: boolean;
}

/** What the worker is asked, one thing after the other. */
export type StoreRequest =
  | { readonly kind: 'open' }
  /** `anew`: what lies there goes first. */
  | { readonly kind: 'write'; readonly entries: readonly EntryText[]; readonly anew: boolean }
  | { readonly kind: 'close' };

/** A file that lay in the place of ours, or vanished from it. `renamedTo` null = it is gone. */
export interface BegunAnew {
  readonly message: string;
  readonly renamedTo: string | null;
}

export type StoreResponse =
  | { readonly kind: 'opened'; readonly entries: readonly EntryText[]; readonly begunAnew: BegunAnew | null }
  | { readonly kind: 'written'; readonly begunAnew: BegunAnew | null }
  /** `isOpen` false: nothing could be read either. */
  | { readonly kind: 'failed'; readonly message: string; readonly isFull: boolean }
  | { readonly kind: 'closed' };
