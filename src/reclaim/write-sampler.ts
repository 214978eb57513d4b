import type { WriteRate } from '../eviction/usage.js';
import type { Clock } from '../ports/clock.js';
import type { WriteCount, WriteCounts, WriteCountsPort } from '../ports/write-counts.js';
import { elapsed, type Instant, later, type Milliseconds, milliseconds } from '../units/units.js';

/** Keeps what containers had written a moment ago, so that a rate is at hand when a line is crossed. */
export interface WriteSampler {
  /** A line is near: reads the counts in the background, unless that was done a moment ago. */
  sample(signal: AbortSignal): void;
  /** How fast each container writes now, by id; one of which that cannot be told is missing. Waits as long as it takes to tell. */
  rates(signal: AbortSignal): Promise<ReadonlyMap<string, WriteRate>>;
}

/** Two counts lie this far apart at least: a writer that fills a buffer and then another looks idle for some ten milliseconds. */
export const APART = milliseconds(200);
/** Older counts say nothing about now. */
const RECENT = milliseconds(3_000);
/** A sample is followed by a pause of this many times what it took, so that watching takes a tenth of a processor at most. */
const PAUSE_PER_COST = 10;

/** Nothing is read until somebody says that a line is near. */
export function createWriteSampler(counts: WriteCountsPort, clock: Clock): WriteSampler {
  let samples: readonly WriteCounts[] = [];
  let isReading = false;
  let notBefore: Instant | null = null;

  const read = async (signal: AbortSignal): Promise<WriteCounts> => {
    const fresh = await counts.read(signal);
    samples = [...samples.filter(({ at }) => elapsed(at, fresh.at) <= RECENT), fresh];
    return fresh;
  };

  const baseOf = (fresh: WriteCounts) => samples.findLast(({ at }) => fresh.at - at >= APART);

  return {
    sample(signal) {
      const began = clock.now();
      if (isReading || (notBefore !== null && began < notBefore)) return;
      isReading = true;
      void read(signal)
        .catch(() => null)
        .then(() => {
          const cost = elapsed(began, clock.now());
          notBefore = later(began, milliseconds(Math.max(APART, cost * PAUSE_PER_COST)));
          isReading = false;
        });
    },

    async rates(signal) {
      const fresh = await read(signal);
      const base = baseOf(fresh);
      if (base !== undefined) return ratesBetween(base, fresh);
      const [oldest = fresh] = samples;
      await clock.sleep(milliseconds(Math.max(0, APART - elapsed(oldest.at, clock.now()))), signal);
      const second = await read(signal);
      const before = baseOf(second);
      return before === undefined ? new Map() : ratesBetween(before, second);
    },
  };
}

function ratesBetween(before: WriteCounts, after: WriteCounts): ReadonlyMap<string, WriteRate> {
  const over = elapsed(before.at, after.at);
  const rates = new Map<string, WriteRate>();
  for (const [id, count] of after.counts) {
    const was = before.counts.get(id);
    const rate = was === undefined ? null : rateOf(was, count, over);
    if (rate !== null) rates.set(id, { ...rate, over, at: after.at });
  }
  return rates;
}

/** The faster of the two: the processes' counts lose those that are gone, the control group's come late. */
function rateOf(before: WriteCount, after: WriteCount, over: Milliseconds): Pick<WriteRate, 'perSecond' | 'by'> | null {
  const rates = (['processes', 'cgroup'] as const).flatMap((by) => {
    const [was, is] = [before[by], after[by]];
    // A count that has shrunk has lost a process that nobody of the container had for a child.
    if (was === null || is === null || is < was) return [];
    return [{ by, perSecond: ((is - was) / over) * 1_000 }];
  });
  return rates.toSorted((a, b) => b.perSecond - a.perSecond)[0] ?? null;
}
