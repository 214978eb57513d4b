import type { EmbeddedRuntimeOptions } from '../../src/embedded/options.js';

/** What the process with the embedded runtime is told; each is answered by `done` or `failed` of the same number. */
export type Order = { readonly number: number } & (
  | { readonly kind: 'start'; readonly options: EmbeddedRuntimeOptions }
  /** Makes a dead container of that size and waits for its end. */
  | { readonly kind: 'make-garbage'; readonly bytes: number }
  /** Writes into a file of the image disk until it is told to stop, which also deletes the file. */
  | { readonly kind: 'write'; readonly bytesPerSecond: number }
  | { readonly kind: 'stop-writing' }
  | { readonly kind: 'close' }
);

/** What it tells. */
export type Tidings =
  | { readonly kind: 'done'; readonly number: number; readonly runtime: RuntimePlace | null }
  | { readonly kind: 'failed'; readonly number: number; readonly message: string }
  /** A call that removes something has arrived; nanoseconds of the system's steady clock. */
  | { readonly kind: 'removal'; readonly call: string; readonly at: bigint };

/** Where the runtime and its disk are. */
export interface RuntimePlace {
  readonly endpoint: string;
  readonly sandboxImage: string;
  readonly diskPath: string;
  readonly nodePath: string;
  readonly logsPath: string;
  /** A mounted disk is a real one. */
  readonly diskKind: 'mounted' | 'namespace' | 'accounted';
  readonly description: string;
}
