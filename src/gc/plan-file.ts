import type { FsLayout } from '../eviction/layout.js';
import { isSignal } from '../eviction/signal.js';
import { type StoredValue, saved } from '../eviction/stored-value.js';
import { bytes, elapsed, type Instant, instant, type Milliseconds } from '../units/units.js';
import type { NodeIdentity, PlanEntry, PlanGoal, PlannedKind, RemovalPlan } from './removal-plan.js';

/** Stands at the beginning of a file, so that nothing else is taken for a plan. */
const FORMAT = 'reclaimd-removal-plan/1';
const KINDS: readonly PlannedKind[] = ['container', 'sandbox', 'pod-logs', 'image'];
const LAYOUTS: readonly FsLayout[] = ['one-disk', 'image-disk', 'split-disks'];

/** A plan as it is kept in a file. */
export function planToText(plan: RemovalPlan): string {
  return `${JSON.stringify({ format: FORMAT, ...plan }, null, 2)}\n`;
}

/** A plan out of a file, or why it is none. */
export type PlanReading =
  | { readonly kind: 'plan'; readonly plan: RemovalPlan }
  /** Worded to follow "as". */
  | { readonly kind: 'no-plan'; readonly rule: string };

/** Reads a plan. What is not needed to carry it out (the ranking) is not read back. */
export function planFromText(text: string): PlanReading {
  let value: StoredValue;
  try {
    // JSON.parse gives nothing but what JSON holds.
    value = JSON.parse(text) as StoredValue;
  } catch {
    return { kind: 'no-plan', rule: 'it must be JSON' };
  }
  try {
    const file = saved.fields(value);
    if (file['format'] !== FORMAT) return { kind: 'no-plan', rule: `its format must be ${FORMAT}` };
    return { kind: 'plan', plan: planOf(file) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kind: 'no-plan', rule: `all of it must be whole (${error.message})` };
  }
}

/** Why a plan must not be carried out here and now, worded to follow "as"; null when it may. */
export function whyPlanRefused(
  plan: Pick<RemovalPlan, 'node' | 'endpoint' | 'madeAt'>,
  here: { readonly node: NodeIdentity; readonly endpoint: string },
  now: Instant,
  maxAge: Milliseconds | null,
): string | null {
  if (!isSameNode(plan.node, here.node))
    return `it was made for the node ${plan.node.hostname}, and this is ${here.node.hostname}`;
  if (plan.endpoint !== here.endpoint)
    return `it was made for the runtime at ${plan.endpoint}, and this is ${here.endpoint}`;
  if (maxAge === null) return null;
  if (plan.madeAt > now + CLOCK_MAY_DIFFER) return 'it was made in the future, by the clock of this node';
  const age = elapsed(plan.madeAt, now);
  if (age <= maxAge) return null;
  return `it is ${Math.round(age / 60_000)} minutes old, and at most ${Math.round(maxAge / 60_000)} are allowed (--max-age)`;
}

/** Between two looks at one wall clock that somebody puts right meanwhile. */
const CLOCK_MAY_DIFFER = 60_000;

/** Names are given twice, machine ids are not: where both are known they decide. */
function isSameNode(a: NodeIdentity, b: NodeIdentity): boolean {
  return a.machineId !== null && b.machineId !== null ? a.machineId === b.machineId : a.hostname === b.hostname;
}

type Fields = Readonly<Record<string, StoredValue>>;

function planOf(file: Fields): RemovalPlan {
  const node = saved.fields(file['node'] ?? null);
  return {
    node: { hostname: saved.text(node['hostname']), machineId: saved.orNull(saved.text, node['machineId']) },
    endpoint: saved.text(file['endpoint']),
    runtime: saved.text(file['runtime']),
    madeAt: instant(saved.number(file['madeAt'])),
    profile: saved.text(file['profile']),
    signal: signalOf(file['signal']),
    layout: oneOf(LAYOUTS, saved.text(file['layout'])),
    capacity: saved.number(file['capacity']),
    available: saved.number(file['available']),
    goals: saved.list(file['goals']).map((each) => goalOf(saved.fields(each))),
    entries: saved.list(file['entries']).map((each) => entryOf(saved.fields(each))),
    ranking: null,
    rankingProblem: null,
    problems: saved.list(file['problems']).map(saved.text),
    notes: [],
  };
}

function goalOf(goal: Fields): PlanGoal {
  return { signal: signalOf(goal['signal']), line: saved.number(goal['line']), target: saved.number(goal['target']) };
}

function entryOf(entry: Fields): PlanEntry {
  const amount = (name: string) => saved.orNull((value) => bytes(saved.number(value)), entry[name]);
  const count = (name: string) => saved.orNull((value) => wholeNumber(saved.number(value)), entry[name]);
  const time = (name: string) => saved.orNull((value) => instant(saved.number(value)), entry[name]);
  return {
    what: oneOf(KINDS, saved.text(entry['what'])),
    id: nonEmpty(saved.text(entry['id'])),
    label: saved.text(entry['label']),
    goes: saved.boolean(entry['goes']),
    why: saved.text(entry['why']),
    inUse: saved.boolean(entry['inUse']),
    claimed: amount('claimed'),
    unique: count('unique'),
    frees: count('frees'),
    ownLayers: count('ownLayers'),
    sharedLayers: count('sharedLayers'),
    firstSeen: time('firstSeen'),
    lastUsed: time('lastUsed'),
  };
}

function signalOf(value: StoredValue | undefined) {
  const text = saved.text(value);
  if (!isSignal(text)) throw new RangeError(`there is no signal ${text.slice(0, 80)}`);
  return text;
}

function oneOf<Choice extends string>(choices: readonly Choice[], text: string): Choice {
  const found = choices.find((each) => each === text);
  if (found === undefined) throw new RangeError(`${text.slice(0, 80)} is none of ${choices.join(', ')}`);
  return found;
}

function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no whole number from 0`);
  return value;
}

function nonEmpty(text: string): string {
  if (text === '') throw new RangeError('an id must not be empty');
  return text;
}
