import type { Sample } from './sampler.js';

/** What the judge must know of a run; times in milliseconds since the epoch, amounts in bytes or inodes. */
export interface Evidence {
  readonly samples: readonly Sample[];
  /** When the run began: the crossing comes after it. */
  readonly begunAt: number;
  /** The threshold. */
  readonly line: number;
  /** Threshold plus minimum reclaim. */
  readonly target: number;
  /** Available at or below this is a full disk. */
  readonly full: number;
  readonly deeds: readonly Deed[];
  /** What one image brings back. */
  readonly imageSize: number;
  /** Unused images that were there at the end and no longer. */
  readonly imagesDeleted: number;
  /** Pods that have to go: 1 where only the end of the writer helps. */
  readonly evictionsNeeded: 0 | 1;
  readonly writer: string;
  /** Pods that were running at the start and at the end no longer, whoever says so. */
  readonly podsEnded: readonly string[];
}

/** Something that the daemon did, when it began and, for a removal, when it was done. */
export interface Deed {
  readonly kind: 'removal' | 'eviction';
  /** What was removed, or the name of the pod. */
  readonly what: string;
  readonly from: number;
  readonly to: number;
}

/** How a run went; seconds after the true crossing. */
export interface Verdict {
  /** Null: it never did anything. */
  readonly firstAction: number | null;
  readonly firstKind: Deed['kind'] | null;
  /** Line plus minimum reclaim measured for the first time after the crossing. */
  readonly relief: number | null;
  /** The last look below the line is over. */
  readonly aboveForGood: number | null;
  readonly secondsFull: number;
  readonly imagesDeleted: number;
  readonly imagesNeeded: number;
  /** What was freed beyond what was needed, where nobody had to be evicted. */
  readonly surplus: number;
  /** In the order of their eviction. */
  readonly evicted: readonly string[];
  readonly innocents: readonly string[];
  readonly needlessEvictions: number;
  /** The disk is above its line at the end. */
  readonly recovered: boolean;
}

/** Judges a run by what was seen from outside; null when the line was never crossed. */
export function judge(evidence: Evidence): Verdict | null {
  const { samples, line, target, deeds, writer } = evidence;
  const crossedAt = crossingOf(samples, line, evidence.begunAt);
  if (crossedAt === null) return null;
  const after = (at: number): number => (at - crossedAt) / 1_000;
  const first = deeds.reduce<Deed | null>(
    (least, deed) => (least !== null && least.from <= deed.from ? least : deed),
    null,
  );
  const past = samples.filter(({ at }) => at > crossedAt);
  const relief = past.find(({ available }) => available >= target && available >= line);
  const lastBelow = past.findLastIndex(({ available }) => available < line);
  const back = past[lastBelow + 1];
  const end = past.at(-1);
  const evicted = [
    ...new Set([...deeds.filter(({ kind }) => kind === 'eviction').map(({ what }) => what), ...evidence.podsEnded]),
  ];
  const surplus = end === undefined ? 0 : end.available - target;
  return {
    firstAction: first === null ? null : after(first.from),
    firstKind: first?.kind ?? null,
    relief: relief === undefined ? null : after(relief.at),
    aboveForGood: back === undefined ? null : after(back.at),
    secondsFull: timeFull(past, evidence.full) / 1_000,
    imagesDeleted: evidence.imagesDeleted,
    imagesNeeded: imagesNeeded(evidence, past, surplus),
    surplus,
    evicted,
    innocents: evicted.filter((pod) => pod !== writer),
    needlessEvictions: Math.max(0, evicted.length - evidence.evictionsNeeded),
    recovered: back !== undefined,
  };
}

/** Between the last look above the line and the first below it, after the run began; null when there is none. */
export function crossingOf(samples: readonly Sample[], line: number, begunAt: number): number | null {
  const index = samples.findIndex(({ at, available }) => at >= begunAt && available < line);
  const below = samples[index];
  const above = samples[index - 1];
  if (below === undefined || above === undefined) return null;
  const share = (above.available - line) / (above.available - below.available);
  return above.at + (below.at - above.at) * share;
}

/** Each look stands for the time until the next one. */
function timeFull(samples: readonly Sample[], full: number): number {
  return samples.reduce((sum, { at, available }, index) => {
    const next = samples[index + 1];
    return available <= full && next !== undefined ? sum + next.at - at : sum;
  }, 0);
}

/**
 * Images without which the disk would be below its target at the end; where a pod had to go, those without which it would
 * have been full before that pod's space was back.
 */
function imagesNeeded(evidence: Evidence, past: readonly Sample[], surplus: number): number {
  const { imageSize, imagesDeleted, evictionsNeeded, deeds, full } = evidence;
  if (evictionsNeeded === 0) {
    return Math.min(imagesDeleted, Math.max(0, imagesDeleted - Math.floor(Math.max(0, surplus) / imageSize)));
  }
  const done = deeds.filter(({ kind, what }) => kind === 'removal' && what === 'image').map(({ to }) => to);
  const lowest = past.reduce((least, { at, available }) => {
    const freed = done.filter((to) => to <= at).length * imageSize;
    return Math.min(least, available - freed);
  }, Number.POSITIVE_INFINITY);
  return Math.min(imagesDeleted, Math.max(0, Math.ceil((full - lowest) / imageSize)));
}
