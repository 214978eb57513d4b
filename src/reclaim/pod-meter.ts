import { NOTABLE_RATE } from '../eviction/filling.js';
import { deviceUnder, type FsLayout } from '../eviction/layout.js';
import { SIGNALS, type Signal } from '../eviction/signal.js';
import type { PodUsage, UsagePart, WriteRate } from '../eviction/usage.js';
import type { PodRecord } from '../ports/pods.js';
import type { WriteCountsPort } from '../ports/write-counts.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../units/units.js';
import { measurePods, type PodUsageDeps, WALK_TIME } from './pod-usage.js';
import { APART, createWriteSampler } from './write-sampler.js';

/** What pods used of a signal's filesystem at one moment. */
interface Measured {
  readonly at: Instant;
  /** What was measured: of one disk, under one layout, in one unit. */
  readonly of: string;
  readonly usage: ReadonlyMap<string, PodUsage>;
}

/** Measures pods when one has to be chosen: what they use, and who of them fills the disk. */
export interface PodMeter {
  measure(
    pods: readonly PodRecord[],
    signal: Signal,
    layout: FsLayout,
    abort: AbortSignal,
  ): Promise<ReadonlyMap<string, PodUsage>>;
  /** How fast each pod fills the disk, given what `measure` has just told; one of which that cannot be told is missing. */
  writes(
    pods: readonly PodRecord[],
    signal: Signal,
    layout: FsLayout,
    fillRate: number,
    abort: AbortSignal,
  ): Promise<ReadonlyMap<string, WriteRate>>;
  /** A line is near: keeps what containers have written, so that rates are at hand when it is crossed. Cheap, and at once. */
  watch(abort: AbortSignal): void;
  /**
   * A line will be crossed in seconds: measures in the background what will be compared with what is measured then. `list` is
   * asked for the pods only when a measuring begins.
   */
  prime(list: () => Promise<readonly PodRecord[]>, signal: Signal, layout: FsLayout, abort: AbortSignal): void;
}

/** A measuring that only serves to be compared is given this long: while it walks, nothing else can. */
const QUICK = milliseconds(300);
/** Between two measurings ahead of a crossing. */
const PRIME_EVERY = milliseconds(600);
/** What was measured longer ago is compared with nothing. */
const COMPARABLE = milliseconds(5_000);
/** Where the pods' counts tell less than this share of what the disk loses, they are not the whole story: everybody is measured twice. */
const EXPLAINED = 1 / 2;

/** `counts` null: nobody counts writes here, and growth alone tells. */
export function createPodMeter(deps: PodUsageDeps, counts: WriteCountsPort | null): PodMeter {
  const { clock } = deps;
  const sampler = counts === null ? null : createWriteSampler(counts, clock);
  let primed: Measured | null = null;
  let latest: Measured | null = null;
  let priming: AbortController | null = null;
  let primedLast: Instant | null = null;
  let isWarm = false;

  const take = async (
    pods: readonly PodRecord[],
    signal: Signal,
    layout: FsLayout,
    abort: AbortSignal,
    within: Milliseconds,
  ): Promise<Measured> => {
    // The moment at which the walks begin: what is written meanwhile makes growth look slower, never faster.
    const at = clock.now();
    return { at, of: subjectOf(signal, layout), usage: await measurePods(deps, pods, signal, layout, abort, within) };
  };

  /** Two measurings that can be compared: the one of the choice with an older one, or with a second one after a moment. */
  const pairFor = async (
    pods: readonly PodRecord[],
    signal: Signal,
    layout: FsLayout,
    abort: AbortSignal,
  ): Promise<readonly [Measured, Measured] | null> => {
    const now = latest;
    if (now === null || now.of !== subjectOf(signal, layout)) return null;
    const isBase = (each: Measured | null): each is Measured =>
      each !== null &&
      each.of === now.of &&
      elapsed(each.at, now.at) >= APART &&
      elapsed(each.at, now.at) <= COMPARABLE &&
      pods.every(({ uid }) => each.usage.has(uid));
    if (isBase(primed)) return [primed, now];
    await clock.sleep(milliseconds(Math.max(0, APART - elapsed(now.at, clock.now()))), abort);
    return abort.aborted ? null : [now, await take(pods, signal, layout, abort, QUICK)];
  };

  return {
    async measure(pods, signal, layout, abort) {
      priming?.abort();
      latest = await take(pods, signal, layout, abort, WALK_TIME);
      return latest.usage;
    },

    async writes(pods, signal, layout, fillRate, abort) {
      const { filesystem, unit } = SIGNALS[signal];
      if (filesystem === null) return new Map();
      // Of inodes nobody keeps counts.
      const counted = unit === 'count' ? new Map<string, WriteRate>() : await countedRates(pods, abort);
      const busy = pods.filter(({ uid }) => (counted.get(uid)?.perSecond ?? 0) >= NOTABLE_RATE.bytes);
      const told = busy.reduce((sum, { uid }) => sum + (counted.get(uid)?.perSecond ?? 0), 0);
      const isQuiet = unit === 'bytes' && fillRate < NOTABLE_RATE.bytes;
      if (isQuiet && busy.length === 0) return counted;
      const suspects = unit === 'bytes' && told >= fillRate * EXPLAINED ? busy : pods;
      const pair = await pairFor(suspects, signal, layout, abort);
      if (pair === null) return counted;
      return new Map([...counted, ...grownRates(suspects, pair, counted)]);
    },

    watch(abort) {
      sampler?.sample(abort);
      if (isWarm) return;
      isWarm = true;
      // The thread that walks is started by its first walk, which costs time that a choice does not have.
      void deps.files.usage(deps.podLogsDir, 1, abort).catch(() => null);
    },

    prime(list, signal, layout, abort) {
      const now = clock.now();
      if (priming !== null || (primedLast !== null && elapsed(primedLast, now) < PRIME_EVERY)) return;
      primedLast = now;
      const mine = new AbortController();
      priming = mine;
      const either = AbortSignal.any([mine.signal, abort]);
      void list()
        .then((pods) => take(pods, signal, layout, either, QUICK))
        .then((measured) => {
          // One that was cut short by a choice has found next to nothing.
          if (!either.aborted) primed = measured;
        })
        .catch(() => null)
        .finally(() => {
          priming = null;
        });
    },
  };

  async function countedRates(pods: readonly PodRecord[], abort: AbortSignal): Promise<ReadonlyMap<string, WriteRate>> {
    const rates = (await sampler?.rates(abort).catch(() => null)) ?? new Map<string, WriteRate>();
    return new Map(
      pods.flatMap(({ uid, containers }) => {
        const known = containers.flatMap(({ id }) => rates.get(id) ?? []);
        const [first] = known.toSorted((a, b) => b.perSecond - a.perSecond);
        if (first === undefined) return [];
        return [[uid, { ...first, perSecond: known.reduce((sum, { perSecond }) => sum + perSecond, 0) }] as const];
      }),
    );
  }
}

/** Signals of filesystems on one disk see the same files. */
function subjectOf(signal: Signal, layout: FsLayout): string {
  const { filesystem, unit } = SIGNALS[signal];
  return `${filesystem === null ? signal : deviceUnder(filesystem, layout)} ${unit} ${layout}`;
}

/**
 * What was counted twice tells better than what processes wrote: they may overwrite, write to another disk, or not be the ones
 * that write, as the runtime writes their logs. Where not all of a pod could be compared, the larger of both is told.
 */
function grownRates(
  pods: readonly PodRecord[],
  [before, after]: readonly [Measured, Measured],
  counted: ReadonlyMap<string, WriteRate>,
): ReadonlyMap<string, WriteRate> {
  const over = elapsed(before.at, after.at);
  return new Map(
    pods.flatMap(({ uid }) => {
      const growth = growthOf(before.usage.get(uid)?.parts ?? [], after.usage.get(uid)?.parts ?? []);
      if (growth === null) return [];
      const grown: WriteRate = { perSecond: (growth.amount / over) * 1_000, by: 'growth', over, at: after.at };
      const told = counted.get(uid);
      const isWhole = growth.isWhole || told === undefined || told.perSecond < grown.perSecond;
      return [[uid, isWhole ? grown : told] as const];
    }),
  );
}

/** By how much the parts grew that were counted to the end both times; null when there is none. */
function growthOf(
  before: readonly UsagePart[],
  after: readonly UsagePart[],
): { readonly amount: number; readonly isWhole: boolean } | null {
  let amount = 0;
  let compared = 0;
  let isWhole = true;
  for (const part of after) {
    const was = before.find(({ source }) => source === part.source);
    const isSame = was !== undefined && was.by === part.by && part.by !== 'runtime';
    if (isSame && was.isComplete && part.isComplete && was.amount !== null && part.amount !== null) {
      amount += part.amount - was.amount;
      compared += 1;
    } else if (part.source !== 'dead-containers') {
      isWhole = false;
    }
  }
  return compared === 0 ? null : { amount, isWhole };
}
