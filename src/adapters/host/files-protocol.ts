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

export interface FilesRequest {
  readonly id: number;
  readonly job: FilesJob;
  /** One Int32: not zero means stop. */
  readonly stop: SharedArrayBuffer;
}

export type FilesResponse =
  | { readonly id: number; readonly kind: 'usage'; readonly usage: WalkedUsage | null }
  | { readonly id: number; readonly kind: 'removed' }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string };
