import type { Policy } from './policy.js';
import { type Resource, SIGNALS, type Signal } from './signal.js';
import type { UsagePart, WriteRate } from './usage.js';

/** A pod as the ranking sees it. Amounts are in the unit of the ranked signal. */
export interface Candidate {
  readonly uid: string;
  readonly label: string;
  /** Null = nobody says; counts as 0, as an unset priority does. */
  readonly priority: number | null;
  /** What it uses of the starved resource, measured; null = unknown. */
  readonly usage: number | null;
  /** What it asked for of that resource: bytes of ephemeral storage or memory; null = nobody says, counts as 0. */
  readonly request: number | null;
  /** Where that use lies, source by source; absent = not told apart. */
  readonly parts?: readonly UsagePart[];
  /** How fast it fills the starved filesystem; absent or null = nobody can say, which is no guilt. */
  readonly writes?: WriteRate | null;
  /** Whether it is seen filling that filesystem now. See `withFillers`. */
  readonly isFilling?: boolean;
  /** Null when it may go; else why it stays. */
  readonly protectedBy: string | null;
}

/** A candidate's place, with what decided it. */
export interface Standing extends Candidate {
  readonly isOverRequest: boolean | null;
  /** Usage minus request as it was compared; null when unknown. */
  readonly excess: number | null;
}

type Comparator = (a: Standing, b: Standing) => number;

/**
 * Orders pods, the first to be evicted first; equal ones keep their order. Mirrors `rankMemoryPressure`,
 * `rankDiskPressureFunc` and `rankPIDPressure`: over its request first, then lower priority, then larger excess. Where pods
 * without numbers stand, and whether among those ranked alike the one that fills the disk goes first, is the profile's.
 */
export function rankPods(candidates: readonly Candidate[], signal: Signal, policy: Policy): readonly Standing[] {
  return rankPodsBy(RANKING[SIGNALS[signal].resource], candidates, signal, policy);
}

/** What pods can be compared by; `exceedsRequest`: those over it first, `priority`: lower first, `aboveRequest`: larger first. */
export type ComparatorName = 'exceedsRequest' | 'priority' | 'aboveRequest';

/** What decides under each resource, the first difference first. Nobody asks for processes, so all of them are above. */
export const RANKING = {
  memory: ['exceedsRequest', 'priority', 'aboveRequest'],
  'ephemeral-storage': ['exceedsRequest', 'priority', 'aboveRequest'],
  inodes: ['exceedsRequest', 'priority', 'aboveRequest'],
  pids: ['priority', 'aboveRequest'],
} as const satisfies Record<Resource, readonly ComparatorName[]>;

/** Orders pods by the named comparators alone. */
export function rankPodsBy(
  names: readonly ComparatorName[],
  candidates: readonly Candidate[],
  signal: Signal,
  policy: Policy,
): readonly Standing[] {
  const standings = candidates.map((each) => standingOf(each, signal, policy));
  const comparators = names.flatMap((name): readonly Comparator[] => [
    // Alike are those of one class by request and of one priority: what is left to compare is who is larger.
    ...(name === 'aboveRequest' && policy.eviction.amongEquals === 'filling-then-larger' ? [fillingFirst] : []),
    ...COMPARATORS[policy.eviction.unknownUsage][name],
  ]);
  return standings.toSorted((a, b) => {
    for (const compare of comparators) {
      const order = compare(a, b);
      if (order !== 0) return order;
    }
    return 0;
  });
}

function standingOf(candidate: Candidate, signal: Signal, policy: Policy): Standing {
  const { usage } = candidate;
  if (usage === null) return { ...candidate, isOverRequest: null, excess: null };
  const request = candidate.request ?? 0;
  const { resource, unit } = SIGNALS[signal];
  // Nobody can request inodes or processes, so any use exceeds the request; of inodes the kubelet subtracts the byte
  // request all the same.
  const requested = unit === 'count' ? 0 : request;
  const subtracted = resource === 'inodes' && policy.eviction.inodeRequest === 'byte-request' ? request : requested;
  return { ...candidate, isOverRequest: usage > requested, excess: usage - subtracted };
}

const byPriority: Comparator = (a, b) => (a.priority ?? 0) - (b.priority ?? 0);
const fillingFirst: Comparator = (a, b) => Number(b.isFilling === true) - Number(a.isFilling === true);
const unknownExcessFirst: Comparator = (a, b) =>
  compareNullable(a.excess, b.excess, -1) || (b.excess ?? 0) - (a.excess ?? 0);
const unknownExcessLast: Comparator = (a, b) =>
  compareNullable(a.excess, b.excess, 1) || (b.excess ?? 0) - (a.excess ?? 0);
const largerUsageFirst: Comparator = (a, b) => (b.usage ?? 0) - (a.usage ?? 0);
const unknownThenOver: Comparator = (a, b) =>
  place(a, ['unknown', 'over', 'within']) - place(b, ['unknown', 'over', 'within']);
const overThenUnknown: Comparator = (a, b) =>
  place(a, ['over', 'unknown', 'within']) - place(b, ['over', 'unknown', 'within']);

const COMPARATORS = {
  first: { exceedsRequest: [unknownThenOver], priority: [byPriority], aboveRequest: [unknownExcessFirst] },
  'after-known-over-request': {
    exceedsRequest: [overThenUnknown],
    priority: [byPriority],
    aboveRequest: [unknownExcessLast, largerUsageFirst],
  },
} as const satisfies Record<Policy['eviction']['unknownUsage'], Record<ComparatorName, readonly Comparator[]>>;

function place(standing: Standing, order: readonly ('unknown' | 'over' | 'within')[]): number {
  return order.indexOf(standing.isOverRequest === null ? 'unknown' : standing.isOverRequest ? 'over' : 'within');
}

/** `nullSide` -1: null before numbers; 1: after. Two nulls or two numbers are equal here. */
function compareNullable(a: number | null, b: number | null, nullSide: -1 | 1): number {
  if ((a === null) === (b === null)) return 0;
  return a === null ? nullSide : -nullSide;
}
