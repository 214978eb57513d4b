import type { Availability, EvictionEvent, Goal, ReclaimOutcome, RemovalKind } from '../eviction/event.js';
import type { Policy } from '../eviction/policy.js';
import type { Clock } from '../ports/clock.js';
import { type Bytes, bytes } from '../units/units.js';
import type { SpaceAccount } from './late-space.js';
import type { Pace } from './pace.js';

/** One collection under pressure: what must be reached, and how to look whether it is. */
export interface ReclaimRun {
  readonly goals: readonly Goal[];
  /** Whether a hard threshold is met: images below the minimum age may go then. */
  readonly isHard: boolean;
  readonly policy: Policy;
  readonly clock: Clock;
  /** The available amounts of the goals' signals, fresh from statfs; a signal that cannot be seen is left out. */
  look(): Promise<Availability>;
  /**
   * Gives up ballast when the runtime has no room to record a removal. Answers whether there was any; absent = none is kept here.
   */
  releaseBallast?(): AsyncGenerator<EvictionEvent, boolean>;
  /** What is still coming back, over all collectors of the run. */
  readonly late: SpaceAccount;
  /** Slows removals down while disks or the runtime suffer; absent = always as many at a time as the policy says. */
  readonly pace?: Pace;
  readonly signal: AbortSignal;
  /** Whether the pods' logs lie on the disk that is short; absent = not. */
  readonly logsHere?: boolean;
}

/** What one collector did. */
export interface StepResult {
  readonly outcome: ReclaimOutcome;
  readonly claimed: Bytes;
  readonly removed: Readonly<Partial<Record<RemovalKind, number>>>;
}

/** A collector at work: its events, then its result. */
export type ReclaimStepRun = AsyncGenerator<EvictionEvent, StepResult>;

/** A collector that found nothing, or could not begin. */
export function nothingRemoved(outcome: ReclaimOutcome): StepResult {
  return { outcome, claimed: bytes(0), removed: {} };
}

/** Whether every goal is measured. A profile that removes everything never is, so that it goes on to the end. */
export function isReached(run: ReclaimRun, available: Availability): boolean {
  if (run.policy.gc.amount === 'everything') return false;
  return run.goals.every((goal) => (available[goal.signal] ?? Number.NEGATIVE_INFINITY) >= goal.target);
}

/** How many bytes are still missing; 0 when only inodes are, or nothing. */
export function missingBytes(run: ReclaimRun, available: Availability): number {
  return Math.max(
    0,
    ...run.goals
      .filter((goal) => goal.signal.endsWith('.available'))
      .map((goal) => goal.target - (available[goal.signal] ?? 0)),
  );
}

/** Adds up two collectors' results; the later outcome holds. */
export function addResults(a: StepResult, b: StepResult): StepResult {
  const kinds = new Set([...Object.keys(a.removed), ...Object.keys(b.removed)]) as ReadonlySet<RemovalKind>;
  return {
    outcome: b.outcome,
    claimed: bytes(a.claimed + b.claimed),
    removed: Object.fromEntries([...kinds].map((kind) => [kind, (a.removed[kind] ?? 0) + (b.removed[kind] ?? 0)])),
  };
}
