import type { WalkedUsage } from './tree-usage.js';

/** What the worker is asked. */
export type FilesJob =
  | {
      readonly kind: 'usage';
      readonly path: string;
      readonly maxEntries: number;
      /** Nanoseconds of the monotonic clock, which all threads share; null = it may take its time. */
      readonly until: bigint | null;
    }
  | { readonly kind: 'remove'; readonly root: string; readonly name: string }
  /** `path` is relative to `root`. */
  | { readonly kind: 'logs'; readonly root: string; readonly path: string };

/** What it answers; a removal has nothing to say. */
export type FilesAnswer = { readonly usage: WalkedUsage | null } | null;
