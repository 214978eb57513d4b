import type { WriteCount } from '../../ports/write-counts.js';
import type { SeenProcesses } from './process-files.js';

/** What the worker is asked. */
export type ProcessesJob =
  | { readonly kind: 'look'; readonly proc: string; readonly containers: readonly string[] }
  | { readonly kind: 'count'; readonly proc: string; readonly cgroup: string };

/** What it answers. */
export type ProcessesAnswer =
  | { readonly kind: 'look'; readonly seen: ReadonlyMap<string, SeenProcesses> }
  | { readonly kind: 'count'; readonly counts: ReadonlyMap<string, WriteCount> };
