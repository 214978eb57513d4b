import { type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import type { EvictionSettings } from './assess.js';
import { SIGNALS, type Signal } from './signal.js';
import type { EvictionState } from './state.js';
import type { Threshold } from './threshold.js';
import type { Sample } from './time-to-full.js';

/** What counts as now: long enough for a writer that fills a buffer and then another. */
const NOW = 1_000;
/** The shortest time over which a loss is called a rate: a burst of a moment is none. */
const SHORTEST = 400;
/** The longest evidence that is asked for before a rate is believed. */
const LONGEST = 10_000;
/** Evidence may take this share of the time that is left until nothing is. */
const EVIDENCE_SHARE = 1 / 8;

/**
 * Bytes that a signal's filesystem loses in a second, as the looks of the last second saw it. What is collected side by side
 * hides a loss and never makes one, so only losses count. 0 where it loses nothing, or where nobody can tell: of inodes no
 * samples are kept.
 */
export function fillRateNow(state: EvictionState, signal: Signal, now: Instant): number {
  return meanLoss(samplesOf(state, signal), now, NOW);
}

/**
 * The same, but of a loss that goes on: the longer the disk will last, the longer it must have gone on. One that lasts two seconds
 * is believed after 400 ms; where a minute is left, a dump of a moment is not taken for a writer that never stops.
 */
export function sustainedFillRate(state: EvictionState, signal: Signal, now: Instant): number {
  const samples = samplesOf(state, signal);
  const available = samples.at(-1)?.available ?? 0;
  let window = SHORTEST;
  let rate = meanLoss(samples, now, window);
  for (;;) {
    window *= 2;
    const left = rate === 0 ? Number.POSITIVE_INFINITY : (available / rate) * 1_000;
    if (window > Math.min(LONGEST, left * EVIDENCE_SHARE)) return rate;
    rate = Math.min(rate, meanLoss(samples, now, window));
  }
}

/** The line that will be crossed first at the rate of now, or was; null when none is near by what the disks lose. */
export function nearestLine(
  state: EvictionState,
  { thresholds, lines }: EvictionSettings,
  now: Instant,
): { readonly threshold: Threshold; readonly left: Milliseconds } | null {
  const near = thresholds.flatMap((threshold) => {
    const { filesystem, unit } = SIGNALS[threshold.signal];
    const seen = state.observations.get(threshold.signal);
    if (filesystem === null || unit === 'count' || seen === undefined || threshold.isDerived) return [];
    const headroom = seen.available - lines.lineOf(threshold, seen.capacity).line;
    if (headroom < 0) return [{ threshold, left: milliseconds(0) }];
    const rate = fillRateNow(state, threshold.signal, now);
    return rate === 0 ? [] : [{ threshold, left: milliseconds((headroom / rate) * 1_000) }];
  });
  return near.toSorted((a, b) => a.left - b.left)[0] ?? null;
}

function samplesOf(state: EvictionState, signal: Signal): readonly Sample[] {
  const { filesystem, unit } = SIGNALS[signal];
  return filesystem === null || unit === 'count' ? [] : (state.samples.get(filesystem) ?? []);
}

/** Losses between samples within the window, per second; of one that began before it, the share that lies in it. */
function meanLoss(samples: readonly Sample[], now: Instant, window: number): number {
  const begin = now - window;
  let lost = 0;
  for (const [index, sample] of samples.entries()) {
    const before = samples[index - 1];
    if (before === undefined || sample.at <= begin || sample.at <= before.at) continue;
    const share = (sample.at - Math.max(begin, before.at)) / (sample.at - before.at);
    lost += Math.max(0, before.available - sample.available) * share;
  }
  return (lost / window) * 1_000;
}
