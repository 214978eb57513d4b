import type { RemovalSubject } from '../eviction/event.js';
import { changeSince, keyOf, type PlanEntry, type RemovalPlan } from '../gc/removal-plan.js';
import { carryOut, type PreparedStep, type Removal } from './removal.js';
import { addResults, isReached, nothingRemoved, type ReclaimRun, type ReclaimStepRun } from './run.js';

/** What is known now of what was planned. */
export interface PlanNow {
  readonly entries: readonly PlanEntry[];
  readonly steps: readonly PreparedStep[];
}

/** A planned entry that is not to be touched, and what has changed since. */
export interface Changed {
  readonly entry: PlanEntry;
  readonly why: string;
}

/** What of a plan still holds. */
export interface Checked {
  /** To be removed, in the order of the plan; neighbours of one kind together. */
  readonly parts: readonly PreparedStep[];
  readonly changed: readonly Changed[];
}

/**
 * Holds a plan against the node as it is now. What is no longer there, has come into use or is protected now is left out; nothing
 * is added, and the order stays.
 */
export function checkPlan({ entries }: Pick<RemovalPlan, 'entries'>, now: PlanNow): Checked {
  const current = new Map(now.entries.map((each) => [keyOf(each), each]));
  const ready = new Map(
    now.steps.flatMap((step) => step.removals.map((removal) => [keyOf(removal.subject), { removal, step }])),
  );
  const parts: { readonly removals: Removal[]; readonly step: PreparedStep }[] = [];
  const changed: Changed[] = [];
  const seen = new Set<string>();
  for (const entry of entries) {
    const key = keyOf(entry);
    if (!entry.goes || seen.has(key)) continue;
    seen.add(key);
    const found = ready.get(key);
    const why = changeSince(entry, current);
    if (found === undefined || why !== null) {
      changed.push({ entry, why: why ?? 'nothing removes it now' });
      continue;
    }
    const last = parts.at(-1);
    if (last?.step === found.step) last.removals.push(found.removal);
    else parts.push({ removals: [found.removal], step: found.step });
  }
  return { parts: parts.map(({ removals, step }) => ({ removals, manner: step.manner })), changed };
}

/**
 * Carries a checked plan out, in order, verified and measured like every collection, until the goals of the run are measured or the
 * plan is at its end. Never more than was planned.
 */
export async function* applyPlan({ parts, changed }: Checked, run: ReclaimRun): ReclaimStepRun {
  for (const { entry, why } of changed) {
    yield { kind: 'removal-skipped', at: run.clock.now(), subject: subjectOf(entry), why };
  }
  let result = nothingRemoved(isReached(run, await run.look()) ? 'reached' : 'exhausted');
  if (result.outcome === 'reached') return result;
  for (const { removals, manner } of parts) {
    const part = yield* carryOut(removals, manner, run);
    // That removals of one kind brought nothing says nothing of the next one's.
    result = addResults(result, part);
    if (part.outcome !== 'exhausted' && part.outcome !== 'no-effect') break;
  }
  return result;
}

function subjectOf({ what, id, label, why, claimed }: PlanEntry): RemovalSubject {
  return { what, id, label, reason: why, claimed };
}
