import { type Milliseconds, milliseconds } from '../../units/units.js';

/** How long each kind of call may take. */
export interface Deadlines {
  /** Answers from the runtime's memory: a few milliseconds when it is well. */
  readonly quick: Milliseconds;
  /** Lists: as many items as the node holds. */
  readonly list: Milliseconds;
  /** Removals and sandbox stops: the runtime unmounts, deletes trees and waits for its own collector. */
  readonly change: Milliseconds;
}

/** The kubelet's `runtimeRequestTimeout`. */
export const DEFAULT_REQUEST_TIMEOUT: Milliseconds = milliseconds(120_000);

/**
 * Added to the grace of a stop. A runtime whose stop is cancelled before the grace is over never gets to the kill, so that
 * the container runs on for ever; after the grace it still has to kill, reap and record the exit, which was seen to take up
 * to some seconds on a busy disk. Longer would hide what a full disk does: the process dead, its exit never recorded.
 */
export const STOP_MARGIN: Milliseconds = milliseconds(10_000);

/** The deadlines under a request timeout: none is longer than it, but that of a stop. */
export function deadlinesFor(requestTimeout: Milliseconds): Deadlines {
  const atMost = (limitMs: number) => milliseconds(Math.min(limitMs, requestTimeout));
  return { quick: atMost(10_000), list: atMost(30_000), change: requestTimeout };
}

/** A grace period as CRI takes it (whole seconds, rounded up), and the deadline of that stop. */
export function stopTimes(grace: Milliseconds): { readonly seconds: bigint; readonly timeout: Milliseconds } {
  const seconds = Math.ceil(grace / 1000);
  return { seconds: BigInt(seconds), timeout: milliseconds(seconds * 1000 + STOP_MARGIN) };
}
