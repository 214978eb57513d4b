import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';

/** One sample of a filesystem, kept to tell how fast it fills. */
export interface Sample {
  readonly at: Instant;
  readonly available: number;
}

/** When a filesystem will have nothing left, if it goes on as it did. */
export interface Forecast {
  /** Bytes or inodes a second at which it fills; above 0. */
  readonly rate: number;
  /** From the newest sample on. */
  readonly timeToFull: Milliseconds;
  /** How long it was watched to say so. */
  readonly watched: Milliseconds;
}

/** How far back a forecast may look, the shortest first. */
const WINDOWS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
const LONGEST_WINDOW = 3_600_000;
/** Nothing is foretold further ahead than this many times the time that was watched: a burst of five seconds says nothing of tomorrow. */
const HORIZON = 10;
/** Samples of a window that are compared with each other, at most and at least. */
const MOST_POINTS = 16;
const LEAST_POINTS = 4;
/** Samples must cover this share of a window. */
const COVERED = 0.8;
/** Of an old sample the neighbours at a distance of this share of its age tell as much: what lies closer is thinned out. */
const DENSITY = 1 / 24;

/** The history with one more sample: dense where it is young, sparse where it is old, and never longer than an hour. */
export function withSample(history: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = history.at(-1);
  // A clock that went backwards makes what came before it useless.
  if (last !== undefined && sample.at < last.at) return [sample];
  if (last !== undefined && sample.at === last.at) return history;
  const kept: Sample[] = [];
  for (const each of history) {
    const age = sample.at - each.at;
    const width = spacing(age);
    const before = kept.at(-1);
    const isAlone = before === undefined || Math.floor(each.at / width) !== Math.floor(before.at / width);
    if (age <= LONGEST_WINDOW && isAlone) kept.push(each);
  }
  return [...kept, sample];
}

/** How far apart samples of an age are kept: powers of two, so that what a wider spacing keeps a narrower one has kept before. */
function spacing(age: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, age * DENSITY)));
}

/**
 * The nearest time to full that the history supports, or null: it does not fill, or not for long enough to say. In each window
 * the rate is the median of the slopes between all pairs of samples (Theil and Sen), of the whole and of its later half, the
 * lower of the two: a single step, a burst that is over and the teeth of a saw say nothing, a steady fill says itself.
 */
export function forecast(history: readonly Sample[]): Forecast | null {
  const newest = history.at(-1);
  if (newest === undefined) return null;
  const forecasts = WINDOWS.flatMap((window) => forecastIn(window, history, newest));
  return forecasts.reduce<Forecast | null>(
    (nearest, each) => (nearest === null || each.timeToFull < nearest.timeToFull ? each : nearest),
    null,
  );
}

function forecastIn(window: number, history: readonly Sample[], newest: Sample): readonly Forecast[] {
  const inside = history.filter((each) => newest.at - each.at <= window);
  const [oldest] = inside;
  if (oldest === undefined) return [];
  const watched = elapsed(oldest.at, newest.at);
  if (inside.length < LEAST_POINTS || watched < window * COVERED) return [];
  const middle = (oldest.at + newest.at) / 2;
  const rate = Math.min(medianRate(spread(inside)), medianRate(spread(inside.filter((each) => each.at >= middle))));
  if (rate <= 0) return [];
  const left = (newest.available / rate) * 1_000;
  return left <= watched * HORIZON ? [{ rate, timeToFull: milliseconds(left), watched }] : [];
}

/** At most `MOST_POINTS` of them, evenly, the first and the last among them. */
function spread(samples: readonly Sample[]): readonly Sample[] {
  if (samples.length <= MOST_POINTS) return samples;
  const step = (samples.length - 1) / (MOST_POINTS - 1);
  return Array.from({ length: MOST_POINTS }, (_, index) => samples[Math.round(index * step)]).filter(
    (each) => each !== undefined,
  );
}

/** The median of the rates between all pairs, a second, the lower one of two; 0 where there is no pair. */
function medianRate(samples: readonly Sample[]): number {
  const rates: number[] = [];
  for (const [index, from] of samples.entries()) {
    for (const to of samples.slice(index + 1))
      rates.push(((from.available - to.available) / (to.at - from.at)) * 1_000);
  }
  rates.sort((a, b) => a - b);
  return rates[Math.floor((rates.length - 1) / 2)] ?? 0;
}
