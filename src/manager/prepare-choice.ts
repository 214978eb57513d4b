import { nearestLine } from '../eviction/fill-rate.js';
import { activePods } from './candidates.js';
import type { Pass } from './pass.js';

/** From here on rates are kept, in milliseconds to the line: a choice then waits for none. */
const WATCH_WITHIN = 60_000;
/** From here on pods are measured ahead, so that at the choice a second number of each is at hand. */
const PRIME_WITHIN = 3_000;

/**
 * Gets ready to choose a pod while a line comes near: who fills the disk is told by two numbers of each, and a fast writer
 * leaves no time to wait for the second. Costs nothing where no disk fills, and nothing while nothing helps.
 */
export function prepareChoice(pass: Pass): void {
  const { meter } = pass.deps;
  const { helpless, evictionUnderWay } = pass.state;
  if (meter === undefined || pass.settings.policy.eviction.amongEquals === 'larger') return;
  if (helpless !== null || evictionUnderWay !== null || pass.deps.evictionOff() !== null) return;
  const near = nearestLine(pass.state, pass.settings, pass.now());
  if (near === null || near.left > WATCH_WITHIN) return;
  meter.watch(pass.abort);
  if (near.left > PRIME_WITHIN || near.left === 0) return;
  meter.prime(() => activePods(pass), near.threshold.signal, pass.layout, pass.abort);
}
