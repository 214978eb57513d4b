import type { FsLayout } from './layout.js';
import type { Signal } from './signal.js';
import type { Threshold } from './threshold.js';

/** The thresholds in force under one layout, and which of the user's own containerfs entries were replaced. */
export interface DerivedThresholds {
  readonly thresholds: readonly Threshold[];
  /** Ids that were appended, as opposed to replaced in place. */
  readonly appended: readonly string[];
  readonly replaced: readonly string[];
}

const ORDER = [
  ['available', 'hard'],
  ['available', 'soft'],
  ['inodesFree', 'hard'],
  ['inodesFree', 'soft'],
] as const;

const SOURCE = { 'one-disk': 'nodefs', 'image-disk': 'imagefs', 'split-disks': 'nodefs' } as const satisfies Record<
  FsLayout,
  string
>;

/**
 * Gives containerfs the thresholds of the filesystem it shares a device with: imagefs on an image disk, else nodefs. The
 * user cannot set them apart; an entry of his own is replaced. Mirrors `UpdateContainerFsThresholds`.
 */
export function deriveContainerfs(configured: readonly Threshold[], layout: FsLayout): DerivedThresholds {
  const thresholds = [...configured];
  const appended: string[] = [];
  const replaced: string[] = [];
  for (const [part, urgency] of ORDER) {
    const signal: Signal = `containerfs.${part}`;
    const sourceSignal: Signal = `${SOURCE[layout]}.${part}`;
    // The last one counts, as in Go, where each match overwrites the one before.
    const source = configured.findLast((each) => each.signal === sourceSignal && each.urgency.kind === urgency);
    const index = thresholds.findLastIndex((each) => each.signal === signal && each.urgency.kind === urgency);
    if (source === undefined) {
      if (index !== -1) replaced.push(...thresholds.splice(index, 1).map((each) => each.id));
      continue;
    }
    const derived: Threshold = { ...source, isDerived: true, signal, id: `${signal}/${urgency}/derived` };
    if (index === -1) {
      appended.push(derived.id);
      thresholds.push(derived);
    } else {
      replaced.push(thresholds[index]?.id ?? signal);
      thresholds[index] = derived;
    }
  }
  return { thresholds, appended, replaced };
}

/**
 * The thresholds that the kubelet's pass goes by in which the layout is told: it has read its list before. What is replaced in place
 * counts at once, up to the first one that has to be appended: that moves the list, and what changes in the new one is not seen.
 */
export function thresholdsOfFirstPass(
  configured: readonly Threshold[],
  { thresholds, appended, replaced }: DerivedThresholds,
): readonly Threshold[] {
  const changes = ORDER.map(([part, urgency]) => {
    const isOne = (each: Threshold) => each.signal === `containerfs.${part}` && each.urgency.kind === urgency;
    return {
      own: configured.findLast((each) => isOne(each) && replaced.includes(each.id)),
      derived: thresholds.find((each) => isOne(each) && each.isDerived && !appended.includes(each.id)),
    };
  });
  // An entry that nobody wrote is appended, be it an inert one where the disk has no such threshold.
  const moved = changes.findIndex(({ own }) => own === undefined);
  const inPlace = moved === -1 ? changes : changes.slice(0, moved);
  return configured.flatMap((each) => {
    const change = inPlace.find(({ own }) => own === each);
    return change === undefined ? [each] : (change.derived ?? []);
  });
}
