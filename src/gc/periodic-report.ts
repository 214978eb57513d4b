import type { CollectorName, NodeEventReason, RunLog } from './gc-event.js';

/** What a reporter remembers of one collector. */
export interface ReportMemory {
  readonly lastFailed: boolean;
}

/** A collector of which nothing has run yet. */
export const NOTHING_FAILED: ReportMemory = { lastFailed: false };

/** How one run is told. */
export interface RunReport {
  readonly memory: ReportMemory;
  readonly log: RunLog;
  /** The Warning event on the node, if any. */
  readonly event: NodeEventReason | null;
}

/**
 * The kubelet's rule of telling periodic runs (`StartGarbageCollection`): each failed container run is an event; the first
 * failed image run is only logged, since statistics may not be there yet, and each further one is an event; the first success
 * after a failure is told, later ones are for debugging.
 */
export function reportRun(memory: ReportMemory, collector: CollectorName, hasFailed: boolean): RunReport {
  if (!hasFailed) return { memory: NOTHING_FAILED, log: memory.lastFailed ? 'info-1' : 'info-4', event: null };
  const after = { lastFailed: true };
  switch (collector) {
    case 'container':
      return { memory: after, log: 'error', event: 'ContainerGCFailed' };
    case 'image':
      return memory.lastFailed
        ? { memory: after, log: 'error-repeated', event: 'ImageGCFailed' }
        : { memory: after, log: 'error-first', event: null };
  }
}

/** Whether periodic image runs happen at all: at 100 % no disk is full enough, and without a maximum age nothing goes by age. */
export function imageRunsAreOff(highPercent: number, maxAge: number | null): boolean {
  return highPercent === 100 && maxAge === null;
}
