import type { Availability, EventOf, EvictionEvent, ReclaimOutcome, RemovalSubject } from '../eviction/event.js';
import { RuntimeError } from '../ports/runtime.js';
import { type Bytes, bytes, elapsed, type Milliseconds, milliseconds } from '../units/units.js';
import {
  isReached,
  missingBytes,
  nothingRemoved,
  type ReclaimRun,
  type ReclaimStepRun,
  type StepResult,
} from './run.js';
import { COMES_WITH_THE_CALL, hasRisen, type Settled, settle, USUALLY_COMES_WITHIN } from './settle.js';
import { timeLimit } from './time-limit.js';

/** What came of one removal. `skipped`: a last look showed that it must not go. */
export type Removed =
  /** `besides`: bytes that became free at once beside what is claimed, such as logs: no sign that the claimed ones have come. */
  { readonly kind: 'removed'; readonly besides?: number } | { readonly kind: 'skipped'; readonly why: string };

/** One planned removal. `carryOut` rejects when the outside fails; then the others go on. */
export interface Removal {
  readonly subject: RemovalSubject;
  carryOut(signal: AbortSignal): Promise<Removed>;
}

/** How a list of removals is carried out. */
export interface RemovalManner {
  /** `late`: the space comes back after the call has answered, so it is waited for. */
  readonly spaceComes: 'at-once' | 'late';
  /** Bytes on the disk per claimed byte, as far as known: an image lies there twice, as blob and as snapshot. */
  readonly bytesPerClaimed: number;
  /** Makes the space of what was removed come now; false = it comes when it comes. Absent = nobody is asked. */
  freeNow?(signal: AbortSignal): Promise<boolean>;
  /** Asked before each batch: why a subject must not go after all. Rejects when it cannot be told; then nothing goes. */
  recheck(): Promise<(subject: RemovalSubject) => string | null>;
}

/** Removals that are ready to be carried out, in order, and how. */
export interface PreparedStep {
  readonly removals: readonly Removal[];
  readonly manner: RemovalManner;
}

/** That many successful removals in a row without any measured gain end the collecting. */
const NO_EFFECT_AFTER = 5;
/** How often a removal is tried that fails for want of space. */
const MOST_TRIES = 3;
/**
 * Below so much available removals go one at a time: side by side two of them need more free pages of the runtime's database
 * than it has left (seen on containerd 1.6 and 2.4; one by one none of 60 failed on a disk refilled before each).
 */
const ALMOST_FULL = 1024 * 1024;

/** With less than this share of a line left a full disk is near, and hurts more than a busy one. */
const URGENT_SHARE = 1 / 2;

interface BatchEnd {
  readonly progress: Progress;
  /** Why the collecting ends here; null = it goes on. */
  readonly failure: ReclaimOutcome | null;
  /** What the runtime could not remove for want of space: to be tried again when some has come back. */
  readonly again: readonly Removal[];
}

interface Progress {
  readonly available: Availability;
  readonly bytesPerClaimed: number;
  readonly withoutEffect: number;
  readonly result: StepResult;
}

/**
 * Carries out a plan in order, in batches that run bounded parallel, with a fresh look after each, until the goals are
 * measured. Never more than the plan says: an entry is removed at most once, and nothing that is not in it.
 */
export async function* carryOut(plan: readonly Removal[], manner: RemovalManner, run: ReclaimRun): ReclaimStepRun {
  let left = plan;
  let progress: Progress = {
    available: await run.look(),
    bytesPerClaimed: manner.bytesPerClaimed,
    withoutEffect: 0,
    result: nothingRemoved('exhausted'),
  };
  let isTold = false;
  const tries = new Map<Removal, number>();
  for (;;) {
    progress = await afterLateSpace(progress, run);
    const outcome = endOf(left, progress, run);
    if (outcome !== null) return { ...progress.result, outcome };
    if (!isTold) yield* tellPlan(plan, run);
    isTold = true;
    const most = await pacedMost(progress, run);
    const batch = left.slice(0, batchSize(left, most, manner, progress, run));
    left = left.slice(batch.length);
    const next = yield* oneBatch(batch, manner, progress, run);
    progress = next.progress;
    if (next.failure !== null) return { ...progress.result, outcome: next.failure };
    const again = next.again.filter((each) => (tries.get(each) ?? 0) < MOST_TRIES);
    if (again.length === 0) continue;
    if (run.releaseBallast !== undefined) yield* run.releaseBallast();
    for (const each of again) tries.set(each, (tries.get(each) ?? 1) + 1);
    // A runtime that found no room to record a removal finds some when what went meanwhile has come back.
    progress = { ...progress, available: await waitForLateSpace(progress.available, run) };
    left = [...again, ...left];
  }
}

/**
 * Waits for what is still coming where it could reach the goals, and before the removals so far are called futile: space that
 * comes late has not failed to come.
 */
async function afterLateSpace(progress: Progress, run: ReclaimRun): Promise<Progress> {
  const looksFutile = progress.withoutEffect >= NO_EFFECT_AFTER;
  const wait = looksFutile ? waitForLateSpace : waitIfItMaySuffice;
  const available = await wait(progress.available, run);
  return {
    ...progress,
    available,
    withoutEffect: hasRisen(progress.available, available) ? 0 : progress.withoutEffect,
  };
}

/** How many may go at a time now, after the pause that a starving node needs. */
async function pacedMost({ available }: Progress, run: ReclaimRun): Promise<number> {
  const { concurrency } = run.policy.gc;
  if (run.pace === undefined || concurrency === 1) return concurrency;
  const isUrgent = run.goals.some((goal) => (available[goal.signal] ?? goal.line) < goal.line * URGENT_SHARE);
  const next = await run.pace.next(concurrency, isUrgent);
  if (next.pause > 0) await run.clock.sleep(next.pause, run.signal);
  return next.concurrency;
}

/** The plan is told before the first of it is done. */
function* tellPlan([first, ...rest]: readonly Removal[], run: ReclaimRun): Generator<EvictionEvent, void> {
  if (first === undefined) return;
  const { subject } = first;
  const subjects = [subject, ...rest.map((each) => each.subject)];
  yield { kind: 'reclaim-planned', at: run.clock.now(), what: subject.what, subjects };
}

function endOf(left: readonly Removal[], progress: Progress, run: ReclaimRun): ReclaimOutcome | null {
  if (run.signal.aborted) return 'aborted';
  if (isReached(run, progress.available)) return 'reached';
  if (left.length === 0) return 'exhausted';
  const isFutile = progress.withoutEffect >= NO_EFFECT_AFTER && run.policy.gc.amount === 'until-target';
  return isFutile ? 'no-effect' : null;
}

async function* oneBatch(
  batch: readonly Removal[],
  manner: RemovalManner,
  progress: Progress,
  run: ReclaimRun,
): AsyncGenerator<EvictionEvent, BatchEnd> {
  const forbidden = await manner.recheck().catch(toError);
  if (forbidden instanceof Error) {
    yield {
      kind: 'list-failed',
      at: run.clock.now(),
      what: 'the users of what is to be removed',
      message: messageOf(forbidden),
    };
    return { progress, failure: failureOf(forbidden), again: [] };
  }
  const attempts = await Promise.all(batch.map((removal) => attempt(removal, forbidden(removal.subject), run)));
  const done = attempts.map((each) => each.event);
  run.pace?.took(done.flatMap((event) => (event.kind === 'removal-skipped' ? [] : [event.took])));
  yield* done;
  const failure = attempts.some((each) => each.error !== null && isLost(each.error)) ? 'runtime-lost' : null;
  const triesAgain = run.policy.gc.amount === 'until-target';
  const again = batch.filter((_, index) => triesAgain && isForWantOfSpace(attempts[index]?.error));
  const removed = done.filter((event) => event.kind === 'removed');
  if (removed.length === 0) return { progress: { ...progress, available: await run.look() }, failure, again };
  const claims = removed.map((event) => event.subject.claimed);
  const claimed = claims.every((each) => each !== null) ? bytes(claims.reduce((sum, each) => sum + each, 0)) : null;
  const besides = attempts.reduce((sum, each) => sum + (each.besides ?? 0), 0);
  const isFreed = await freeNow(manner, run).catch(toError);
  if (isFreed instanceof Error) yield { kind: 'space-not-freed', at: run.clock.now(), message: messageOf(isFreed) };
  const settled =
    isFreed === true
      ? await settleFreed(claimed, progress, run)
      : await settleBatch(claimed, besides, manner, progress, run);
  yield {
    kind: 'batch-measured',
    at: run.clock.now(),
    removals: removed.length,
    claimed,
    availableBefore: progress.available,
    availableAfter: settled.available,
    waited: settled.waited,
  };
  const hadEffect = settled.rose || removed.some((event) => hasRisen(event.availableBefore, event.availableAfter));
  return {
    failure,
    again,
    progress: {
      available: settled.available,
      bytesPerClaimed: learned(progress, claimed, settled.available, run),
      withoutEffect: hadEffect ? 0 : progress.withoutEffect + removed.length,
      result: countIn(
        progress.result,
        removed,
        claimed ?? bytes(claims.reduce<number>((sum, each) => sum + (each ?? 0), 0)),
      ),
    },
  };
}

/** What one attempt told, and the error where it failed. */
interface Attempt {
  readonly event: EventOf<'removed'> | EventOf<'removal-skipped'> | EventOf<'removal-failed'>;
  readonly error: Error | null;
  readonly besides?: number;
}

async function attempt(removal: Removal, forbidden: string | null, run: ReclaimRun): Promise<Attempt> {
  const { subject } = removal;
  const skipped = (why: string): Attempt => ({
    event: { kind: 'removal-skipped', at: run.clock.now(), subject, why },
    error: null,
  });
  if (forbidden !== null) return skipped(forbidden);
  const availableBefore = await run.look();
  const began = run.clock.now();
  const outcome = await removal.carryOut(run.signal).catch(toError);
  const took = elapsed(began, run.clock.now());
  if (outcome instanceof Error) {
    const message = messageOf(outcome);
    const still = staysListed(outcome) ? { isStillListed: true as const } : {};
    return { event: { kind: 'removal-failed', at: run.clock.now(), subject, message, took, ...still }, error: outcome };
  }
  if (outcome.kind === 'skipped') return skipped(outcome.why);
  const availableAfter = await run.look();
  return {
    event: { kind: 'removed', at: run.clock.now(), subject, availableBefore, availableAfter, took },
    error: null,
    besides: outcome.besides ?? 0,
  };
}

/** Longer than any collection of a runtime took; past it the space is waited for like any that comes late. */
const FREES_WITHIN = milliseconds(10_000);

/** Whether the runtime has freed all that was removed so far. */
async function freeNow(manner: RemovalManner, run: ReclaimRun): Promise<boolean> {
  if (manner.freeNow === undefined || !run.policy.gc.asksForSpace) return false;
  const limit = timeLimit(run.clock, FREES_WITHIN, run.signal);
  try {
    return await manner.freeNow(limit.signal);
  } finally {
    limit.end();
  }
}

/** After a batch whose space the runtime has freed: it is there, but for the moment that XFS takes. */
async function settleFreed(claimed: Bytes | null, progress: Progress, run: ReclaimRun): Promise<Settled> {
  const settled = await settle(run, progress.available, claimed, COMES_WITH_THE_CALL);
  run.late.sawAll(settled.available);
  return settled;
}

/** After a batch: a look, or a wait where its space comes late and nobody knows how much it is. */
async function settleBatch(
  claimed: Bytes | null,
  besides: number,
  manner: RemovalManner,
  progress: Progress,
  run: ReclaimRun,
): Promise<Settled> {
  const isLate = manner.spaceComes === 'late' && run.policy.gc.waitsForSpace;
  // Claims are in bytes: how many inodes will come back nobody says.
  const expected = run.goals.every((goal) => goal.signal.endsWith('.available')) ? claimed : null;
  if (isLate) run.late.expect(expected, withMoreBytes(progress.available, besides), run.clock.now());
  const limit = waitAfterBatch(claimed, isLate, run);
  const settled = await settle(run, progress.available, claimed, limit);
  if (isLate || claimed === null) run.late.saw(settled.available);
  else run.late.sawBeside(settled.available);
  return settled;
}

/**
 * Late space is only waited for here where nobody knows how much it is; else the account decides. What comes with the call has
 * a moment, as XFS gives back in the background.
 */
function waitAfterBatch(claimed: Bytes | null, isLate: boolean, run: ReclaimRun): Milliseconds {
  if (!run.policy.gc.waitsForSpace) return milliseconds(0);
  if (isLate) return claimed === null ? USUALLY_COMES_WITHIN : milliseconds(0);
  return claimed === null ? milliseconds(0) : COMES_WITH_THE_CALL;
}

function withMoreBytes(available: Availability, more: number): Availability {
  const entries = Object.entries(available);
  return Object.fromEntries(entries.map(([signal, had]) => [signal, signal.endsWith('.available') ? had + more : had]));
}

/** Waits while what is still coming back could reach the goals: nothing else goes, container, image or pod, meanwhile. */
export async function waitIfItMaySuffice(available: Availability, run: ReclaimRun): Promise<Availability> {
  const now = run.clock.now();
  const outstanding = run.late.outstanding(now);
  if (outstanding === null || outstanding === 0) return available;
  const missing = missingBytes(run, available);
  if (missing === 0 || outstanding < missing) return available;
  return waitForLateSpace(available, run);
}

/** Waits until all that was freed has come back, the goals are reached, or it has had its time. */
export async function waitForLateSpace(available: Availability, run: ReclaimRun): Promise<Availability> {
  const now = run.clock.now();
  const left = run.late.waitLeft(now);
  if (left === 0) return available;
  const settled = await settle(run, available, run.late.owed(now), left);
  run.late.saw(settled.available);
  return settled.available;
}

/**
 * As many as may go at a time, but no more than are needed by what is known: the claimed sizes times what a claimed byte
 * brought so far. Where inodes are short nobody knows what one brings, so they go one by one.
 */
function batchSize(
  left: readonly Removal[],
  mostAtATime: number,
  manner: RemovalManner,
  progress: Progress,
  run: ReclaimRun,
): number {
  const most = Math.min(mostAtATime, left.length);
  if (run.policy.gc.amount === 'everything') return most;
  if (isAlmostFull(progress.available)) return 1;
  // The claims of what is still coming may be old, and the removal of one image makes the runtime collect the rest as well.
  if (manner.spaceComes === 'at-once' && run.late.outstanding(run.clock.now()) !== 0) return 1;
  const missing = missingBytes(run, progress.available);
  if (missing === 0) return 1;
  let expected = 0;
  for (let size = 0; size < most; size += 1) {
    if (expected >= missing) return Math.max(1, size);
    expected += (left[size]?.subject.claimed ?? 0) * progress.bytesPerClaimed;
  }
  return most;
}

function isAlmostFull(available: Availability): boolean {
  return Object.entries(available).some(([signal, left]) => signal.endsWith('.available') && left < ALMOST_FULL);
}

function isForWantOfSpace(error: Error | null | undefined): boolean {
  return error instanceof RuntimeError && error.kind === 'no-space';
}

/** What a claimed byte brought in this batch, blended with what it brought before; unchanged where nothing can be told. */
function learned(progress: Progress, claimed: Bytes | null, after: Availability, run: ReclaimRun): number {
  if (claimed === null || claimed === 0) return progress.bytesPerClaimed;
  const gained = missingBytes(run, progress.available) - missingBytes(run, after);
  if (gained <= 0) return progress.bytesPerClaimed;
  return (progress.bytesPerClaimed + gained / claimed) / 2;
}

function countIn(
  result: StepResult,
  removed: readonly { readonly subject: RemovalSubject }[],
  claimed: Bytes,
): StepResult {
  const counts = { ...result.removed };
  for (const { subject } of removed) counts[subject.what] = (counts[subject.what] ?? 0) + 1;
  return { ...result, claimed: bytes(result.claimed + claimed), removed: counts };
}

/** What a failure to ask the runtime means for the collecting. */
export function failureOf(error: unknown): 'runtime-lost' | 'runtime-failed' {
  return isLost(error) ? 'runtime-lost' : 'runtime-failed';
}

/** Whether a removal that succeeded changed nothing. */
export function staysListed(error: unknown): boolean {
  return error instanceof RuntimeError && error.kind === 'without-effect';
}

/** Whether nobody answers at the runtime's socket: then nothing more is tried until it is back. */
function isLost(error: unknown): boolean {
  return error instanceof RuntimeError && error.kind === 'unavailable';
}

/** What was thrown, as an error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The words of a failure with those of its causes. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A failed call carries the runtime's words in its own message; its cause would say them again.
  if (error instanceof RuntimeError) return error.message;
  return error.cause instanceof Error ? `${error.message}: ${messageOf(error.cause)}` : error.message;
}
