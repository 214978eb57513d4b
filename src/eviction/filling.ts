import type { Candidate } from './rank.js';

/**
 * A pod is seen filling the disk when this share of what the disk loses is its doing. At most four can be at a time, so that
 * an ordinary writer beside a fast one is none.
 */
const FILLING_SHARE = 1 / 4;

/**
 * Below it nobody is called filling, per second: 1 MiB is what a chatty log writes, and such a disk lasts long enough for the
 * larger pod to go first; 256 files are what a build makes now and then.
 */
export const NOTABLE_RATE = { bytes: 1024 * 1024, count: 256 } as const;

/**
 * Marks those who are seen filling the disk now. `fillRate` is what the disk loses in a second as far as looks tell, 0 when it
 * loses nothing: collecting side by side gives back meanwhile, so the rates of the pods count as well. One whose rate is not
 * known is not guilty.
 */
export function withFillers<Each extends Candidate>(
  candidates: readonly Each[],
  fillRate: number,
  unit: keyof typeof NOTABLE_RATE,
): readonly Each[] {
  const written = candidates.reduce((sum, { writes }) => sum + Math.max(0, writes?.perSecond ?? 0), 0);
  const least = Math.max(NOTABLE_RATE[unit], Math.max(fillRate, written) * FILLING_SHARE);
  return candidates.map((each) =>
    each.writes !== undefined && each.writes !== null && each.writes.perSecond >= least
      ? { ...each, isFilling: true }
      : each,
  );
}
