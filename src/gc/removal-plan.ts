import type { RemovalKind } from '../eviction/event.js';
import type { FsLayout } from '../eviction/layout.js';
import { SIGNALS, type Signal } from '../eviction/signal.js';
import type { Bytes, Instant } from '../units/units.js';

/** What a plan can hold; pods are never in it. */
export type PlannedKind = Exclude<RemovalKind, 'pod-volumes'>;

/** One candidate, and what becomes of it. */
export interface PlanEntry {
  readonly what: PlannedKind;
  readonly id: string;
  readonly label: string;
  readonly goes: boolean;
  /** Why it goes, or why it stays: by which rule, or used by whom. */
  readonly why: string;
  /** It runs, or something that is there needs it: no garbage at all. */
  readonly inUse: boolean;
  /** Bytes that the runtime says it holds; null = it does not say. */
  readonly claimed: Bytes | null;
  /** What its removal alone frees, in the unit of the plan's signal; null = unknown. */
  readonly unique: number | null;
  /** What it frees in its place of the plan, after all before it; null = unknown, or it stays. */
  readonly frees: number | null;
  /** Layers of an image that nothing else keeps, and that something else keeps; null = unknown, or no image. */
  readonly ownLayers: number | null;
  readonly sharedLayers: number | null;
  /** By the wall clock; null = unknown. */
  readonly firstSeen: Instant | null;
  readonly lastUsed: Instant | null;
}

/** Which node a plan was made for. */
export interface NodeIdentity {
  readonly hostname: string;
  /** `/etc/machine-id`; null where there is none. */
  readonly machineId: string | null;
}

/** Where the pods would stand if garbage did not suffice. */
export interface PlanStanding {
  readonly label: string;
  readonly priority: number | null;
  /** In the unit of the signal; null = unknown. */
  readonly usage: number | null;
  readonly request: number | null;
  /** Null = it may go. */
  readonly protectedBy: string | null;
}

/** How much is to be reached. */
export interface PlanGoal {
  readonly signal: Signal;
  readonly line: number;
  readonly target: number;
}

/**
 * What would be removed from a node and in which order, as it stood at one moment. `entries` has what goes first, in the order
 * of its removal, then what stays.
 */
export interface RemovalPlan {
  readonly node: NodeIdentity;
  readonly endpoint: string;
  readonly runtime: string;
  /** By the wall clock. */
  readonly madeAt: Instant;
  readonly profile: string;
  readonly signal: Signal;
  readonly layout: FsLayout;
  readonly capacity: number;
  readonly available: number;
  /** Empty = everything that may go. */
  readonly goals: readonly PlanGoal[];
  readonly entries: readonly PlanEntry[];
  /** The ranking that would follow; null = it could not be told, and `rankingProblem` says why. */
  readonly ranking: readonly PlanStanding[] | null;
  readonly rankingProblem: string | null;
  /** What could not be listed: a plan with a hole in it. */
  readonly problems: readonly string[];
  /** What else a reader should know: rules that fit nothing, sizes that nobody tells. */
  readonly notes: readonly string[];
}

/** Where a plan reaches its target. */
export interface Cut {
  /** So many entries are expected to be enough; null = all that go are not. */
  readonly after: number | null;
  /** What all that go are expected to free. */
  readonly expected: number;
  /**
   * `known`: by what each frees; `claimed`: part of it by what the runtime claims, since nobody knows more; `unknown`: nobody
   * says how many inodes some of it frees, and nothing is claimed of these. Sandboxes hold next to nothing and are not asked for.
   */
  readonly basis: 'known' | 'claimed' | 'unknown';
}

/** How far a plan has to be carried out, by what is known of its entries. */
export function cutOf({ entries, goals, available, signal }: RemovalPlan): Cut {
  const goes = entries.filter((each) => each.goes);
  const inBytes = SIGNALS[signal].unit === 'bytes';
  const target = goals.find((each) => each.signal === signal)?.target ?? null;
  let freed = 0;
  let after: number | null = target !== null && available >= target ? 0 : null;
  for (const [index, entry] of goes.entries()) {
    freed += entry.frees ?? (inBytes ? (entry.claimed ?? 0) : 0);
    if (after === null && target !== null && available + freed >= target) after = index + 1;
  }
  const counted = after === null ? goes : goes.slice(0, after);
  const isKnown = counted.every((each) => each.frees !== null || each.what === 'sandbox');
  return { after, expected: freed, basis: isKnown ? 'known' : inBytes ? 'claimed' : 'unknown' };
}

/** What became of a planned entry since: null = it may go as planned. */
export function changeSince(entry: PlanEntry, now: ReadonlyMap<string, PlanEntry>): string | null {
  const current = now.get(keyOf(entry));
  if (current === undefined) return 'it is gone already';
  return current.goes ? null : current.why;
}

/** Kinds of things may have one id. */
export function keyOf({ what, id }: { readonly what: RemovalKind; readonly id: string }): string {
  return `${what} ${id}`;
}
