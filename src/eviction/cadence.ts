import { elapsed, type Milliseconds, milliseconds } from '../units/units.js';
import type { EvictionSettings } from './assess.js';
import { SIGNALS } from './signal.js';
import type { EvictionState } from './state.js';
import type { Threshold } from './threshold.js';
import type { Sample } from './time-to-full.js';

/** How often to look. */
export interface CadenceSettings {
  readonly slowest: Milliseconds;
  readonly fastest: Milliseconds;
  /** Bytes per second that a disk is taken to fill with at worst, whatever was seen so far. */
  readonly assumedFillRate: number;
}

/** The kubelet's fixed pause between passes. */
const KUBELET_PAUSE = milliseconds(10_000);
/** The share of the time to the line that may pass before the next look: a writer twice as fast as thought is still seen in time. */
const SAFETY = 0.5;
/** While pressure lasts that nothing here can end, looking faster than this brings nothing. */
const HELPLESS_PAUSE = milliseconds(1_000);

/**
 * The pause before the next look, from headroom and fill rate: long when every line is far, short when one is near or its
 * filesystem fills fast. The idea is earlyoom's: interval = headroom / worst fill rate, clamped.
 */
export function pauseBeforeNextLook(
  state: EvictionState,
  settings: EvictionSettings,
  cadence: CadenceSettings,
): Milliseconds {
  if (settings.policy.eviction.cadence === 'fixed') return KUBELET_PAUSE;
  if (state.evictionUnderWay !== null) return cadence.fastest;
  if (state.helpless !== null) return clamp(HELPLESS_PAUSE, cadence);
  const pauses = settings.thresholds.map((threshold) => {
    const seen = state.observations.get(threshold.signal);
    const { filesystem, unit } = SIGNALS[threshold.signal];
    if (seen === undefined || filesystem === null || state.setAside.has(threshold.id)) return cadence.slowest;
    const headroom = seen.available - settings.lines.lineOf(threshold, seen.capacity).line;
    if (headroom <= 0) return pauseBelowLine(threshold, state, cadence);
    const samples = state.samples.get(filesystem) ?? [];
    const rate = unit === 'bytes' ? Math.max(cadence.assumedFillRate, fillRate(samples)) : ASSUMED_INODES_PER_SECOND;
    return (headroom / rate) * 1_000 * SAFETY;
  });
  return clamp(Math.min(cadence.slowest, ...pauses), cadence);
}

/** A line that is missed was served in this pass, or waits for its grace: then the next look is due when that ends. */
function pauseBelowLine(threshold: Threshold, state: EvictionState, cadence: CadenceSettings): number {
  const since = state.firstMet.get(threshold.id);
  if (threshold.urgency.kind === 'hard' || since === undefined || state.lookedAt === null) return cadence.fastest;
  const left = threshold.urgency.grace - elapsed(since, state.lookedAt);
  return left > 0 ? left : cadence.fastest;
}

/** Files that a busy `tar x` makes in a second on a fast disk (tens of thousands at most; rounded up). */
const ASSUMED_INODES_PER_SECOND = 50_000;

/** Bytes per second at which a filesystem filled at its fastest between two of the last samples; 0 when it did not. */
export function fillRate(samples: readonly Sample[]): number {
  return samples.reduce((fastest, sample, index) => {
    const before = samples[index - 1];
    if (before === undefined || sample.at <= before.at) return fastest;
    return Math.max(fastest, ((before.available - sample.available) / (sample.at - before.at)) * 1_000);
  }, 0);
}

function clamp(pause: number, cadence: CadenceSettings): Milliseconds {
  return milliseconds(Math.min(cadence.slowest, Math.max(cadence.fastest, pause)));
}
