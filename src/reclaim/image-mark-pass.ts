import type { GcEvent } from '../gc/gc-event.js';
import { type ImageFsSpace, type ImageRules, spaceDemand } from '../gc/image-collection.js';
import type { Clock } from '../ports/clock.js';
import type { Count } from '../units/units.js';
import type { Notices } from './notices.js';

/** Space on the images' filesystem, inodes with it; null = it counts none. */
export interface MarkSpace extends ImageFsSpace {
  readonly inodeCounts: { readonly free: Count; readonly total: Count } | null;
}

/** What a run by the marks asks beside the collector. */
export interface MarkDeps {
  readonly notices: Notices;
  /** Removals in one run; null = no bound. */
  readonly maxRemovals: number | null;
  /** The disk that images lie on, as passes under pressure name it. */
  imageDisk(): string;
}

/** One thing to be freed until its low mark is measured. */
interface Mark {
  readonly unit: 'bytes' | 'inodes';
  /** What must be available. */
  readonly target: number;
  readonly before: number;
}

/** That many successful removals in a row without any measured gain end a run. */
const NO_EFFECT_AFTER = 5;

/** The marks of a run: both, when either is at its high mark and something is missing; none = nothing to do. */
export function marksOf(space: MarkSpace, rules: Pick<ImageRules, 'highPercent' | 'lowPercent'>): readonly Mark[] {
  const { inodeCounts: inodes } = space;
  const counted = [
    { unit: 'bytes' as const, available: space.available, capacity: space.capacity },
    ...(inodes === null ? [] : [{ unit: 'inodes' as const, available: inodes.free, capacity: inodes.total }]),
  ];
  const demands = counted.map(({ unit, available, capacity }) => {
    const asked = { available, capacity } as ImageFsSpace; // inodes are counted by the same arithmetic
    const total = capacity ?? 0;
    const before = Math.min(available ?? 0, total);
    const isAtMark = spaceDemand(asked, rules).kind === 'free';
    return { unit, before, isAtMark, target: Math.floor((total * (100 - rules.lowPercent)) / 100) };
  });
  const isDue = demands.some(({ isAtMark, before, target }) => isAtMark && before < target);
  return isDue ? demands.filter(({ before, target }) => before < target) : [];
}

/** What a run by the marks works with. */
export interface MarkRun<Candidate> {
  readonly candidates: readonly Candidate[];
  readonly marks: readonly Mark[];
  readonly clock: Pick<Clock, 'now'>;
  readonly deps: MarkDeps;
  /** Available now, of all that is counted. */
  readonly available: ReadonlyMap<'bytes' | 'inodes', number>;
  readonly removalsBefore: number;
  readonly images: number;
  readonly inUse: number;
  space(): Promise<MarkSpace | null>;
  remove(candidate: Candidate): AsyncGenerator<GcEvent, 'removed' | 'spared' | Error>;
}

/** What a run by the marks did. */
export interface MarkResult {
  readonly isReached: boolean;
  /** As measured. */
  readonly freed: number;
  readonly failures: readonly Error[];
}

/**
 * Removes candidates in order, one by one, with a look after each, until the low marks are measured, the run has made its number of
 * removals, or five in a row changed nothing. Says what it wanted and got where that is too little; failures end nothing.
 */
export async function* markPass<Candidate>(run: MarkRun<Candidate>): AsyncGenerator<GcEvent, MarkResult> {
  const { marks, clock, deps } = run;
  const { notices, maxRemovals } = deps;
  const failures: Error[] = [];
  let available = run.available;
  let removals = run.removalsBefore;
  let withoutGain = 0;
  const isReached = () => marks.every(({ unit, target }) => (available.get(unit) ?? 0) >= target);
  for (const candidate of run.candidates) {
    if (isReached() || withoutGain >= NO_EFFECT_AFTER || (maxRemovals !== null && removals >= maxRemovals)) break;
    const outcome = yield* run.remove(candidate);
    if (outcome instanceof Error) failures.push(outcome);
    if (outcome !== 'spared') removals += 1;
    if (outcome !== 'removed') continue;
    const space = await run.space();
    const now = space === null ? available : availableIn(space);
    withoutGain = [...now].some(([unit, amount]) => amount > (available.get(unit) ?? amount)) ? 0 : withoutGain + 1;
    available = now;
  }
  const at = clock.now();
  if (withoutGain < NO_EFFECT_AFTER) notices.ends('REMOVALS_DO_NOT_HELP');
  else if (notices.begins('REMOVALS_DO_NOT_HELP')) {
    yield { kind: 'warning', at, warning: { code: 'REMOVALS_DO_NOT_HELP', removals: withoutGain } };
  }
  const gained = ({ unit, before }: Mark) => Math.max(0, (available.get(unit) ?? 0) - before);
  for (const mark of marks) {
    const key = `IMAGE_GC_INSUFFICIENT ${mark.unit}`;
    if ((available.get(mark.unit) ?? 0) >= mark.target) notices.ends(key);
    else if (notices.begins(key)) {
      const { unit, target, before } = mark;
      const { images, inUse } = run;
      const wanted = target - before;
      yield {
        kind: 'warning',
        at,
        warning: { code: 'IMAGE_GC_INSUFFICIENT', unit, wanted, freed: gained(mark), images, inUse },
      };
    }
  }
  const bytes = marks.find(({ unit }) => unit === 'bytes');
  return { isReached: isReached(), freed: bytes === undefined ? 0 : gained(bytes), failures };
}

/** What is available, by unit. */
export function availableIn({ available, inodeCounts: inodes }: MarkSpace): Map<'bytes' | 'inodes', number> {
  return new Map([['bytes', available ?? 0], ...(inodes === null ? [] : [['inodes', inodes.free] as const])]);
}
