import { systemClock } from '../adapters/host/clock.js';
import { hostIdentity } from '../adapters/host/identity.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import type { Settings } from '../config/settings.js';
import type { AskedPressure } from '../eviction/asked-pressure.js';
import type { EvictionEvent } from '../eviction/event.js';
import { whyPlanRefused } from '../gc/plan-file.js';
import type { RemovalPlan } from '../gc/removal-plan.js';
import { type PlanPlace, planRemovals } from '../manager/plan-removals.js';
import { PortError } from '../ports/port-error.js';
import { applyPlan, type Changed, checkPlan } from '../reclaim/apply-plan.js';
import type { StepResult } from '../reclaim/run.js';
import type { Milliseconds } from '../units/units.js';
import { buildParts, type Parts, type Replacements } from './build.js';
import { endpointOf } from './endpoint.js';
import { holdRuntime } from './run.js';

/** A plan that is not carried out on this node. */
export class PlanRefused extends PortError {}

/** Makes a plan. Changes nothing and needs no lock, so it goes beside a daemon. Throws a `PortError` when none can be made. */
export async function planOnce(
  settings: Settings,
  asked: AskedPressure,
  pathExists: (path: string) => boolean,
  abort: AbortSignal,
  replacements: Replacements = {},
): Promise<RemovalPlan> {
  const endpoint = endpointOf(settings, pathExists);
  await using parts = await partsAt(settings, endpoint, true, replacements);
  const place = await placeOf(parts, endpoint);
  return (await planRemovals(parts.planning, asked, place, abort)).plan;
}

/** What is to be applied, and how. */
export interface ApplyWish {
  /** A plan that was made before; null = the one that is made now. */
  readonly plan: RemovalPlan | null;
  /** What to plan for where there is none. */
  readonly asked: AskedPressure;
  /** The oldest that a plan may be; null = of any age. */
  readonly maxAge: Milliseconds | null;
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
}

/** What came of it. */
export interface Applied {
  readonly plan: RemovalPlan;
  /** How many were to be removed, as it is now. */
  readonly left: number;
  readonly changed: readonly Changed[];
  /** Null in a dry run. */
  readonly result: StepResult | null;
}

/**
 * Carries a plan out, or says what would be left of it. For real it takes the lock that a daemon holds. Throws a `PlanRefused`
 * when the plan is another node's or too old, and a `PortError` when a daemon is at work or the runtime cannot be asked.
 */
export async function applyOnce(
  settings: Settings,
  wish: ApplyWish,
  pathExists: (path: string) => boolean,
  hear: (event: EvictionEvent) => void,
  abort: AbortSignal,
  replacements: Replacements = {},
): Promise<Applied> {
  const endpoint = endpointOf(settings, pathExists);
  await using _lock = wish.dryRun ? null : await holdRuntime(endpoint).catch(besideDaemon);
  await using parts = await partsAt(settings, endpoint, wish.dryRun, replacements);
  const place = await placeOf(parts, endpoint);
  if (wish.plan !== null) {
    const rule = whyPlanRefused(wish.plan, place, parts.clock.wall(), wish.maxAge);
    if (rule !== null) throw new PlanRefused(`Cannot apply the plan as ${rule}`);
  }
  const asked = wish.plan === null ? wish.asked : askedBy(wish.plan);
  const ready = await planRemovals(parts.planning, asked, place, abort);
  if (ready.plan.problems.length > 0) throw new PortError(`Cannot apply the plan as ${ready.plan.problems.join('; ')}`);
  const plan = wish.plan ?? ready.plan;
  const checked = checkPlan(plan, { entries: ready.plan.entries, steps: ready.steps });
  const left = checked.parts.reduce((sum, each) => sum + each.removals.length, 0);
  if (wish.dryRun) return { plan, left, changed: checked.changed, result: null };
  const applying = applyPlan(checked, ready.run);
  for (;;) {
    const next = await applying.next();
    if (next.done === true) return { plan, left, changed: checked.changed, result: next.value };
    hear(next.value);
  }
}

/** The goals are the plan's own: what was shown counts. */
function askedBy({ signal, goals }: RemovalPlan): AskedPressure {
  return { signal, target: goals.length === 0 ? 'all' : goals };
}

/** What is remembered of images is read, and where nothing is to change left as it is. */
async function partsAt(
  settings: Settings,
  endpoint: string,
  changesNothing: boolean,
  replacements: Replacements,
): Promise<Parts> {
  const ask = () => hostNodeStats({ clock: systemClock() }).kubeletRuns();
  const kubeletRuns = await (replacements.kubeletRuns?.() ?? ask());
  return buildParts(settings, { endpoint, kubeletRuns: () => kubeletRuns, changesNothing }, replacements);
}

async function placeOf(parts: Parts, endpoint: string): Promise<PlanPlace> {
  const [{ name, version }, node] = await Promise.all([parts.runtime.identify(), hostIdentity()]);
  return { node, endpoint, runtime: `${name} ${version}` };
}

function besideDaemon(cause: unknown): never {
  const advice =
    'stop it first (systemctl stop reclaimd), or leave it to it: it collects by itself when a line is missed';
  throw new PortError(`Cannot apply a plan beside a daemon; ${advice}`, { cause });
}
