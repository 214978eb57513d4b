import { amountText, bytesText } from '../../eviction/message.js';
import { cutOf, type PlanEntry, type PlanStanding, type RemovalPlan } from '../../gc/removal-plan.js';
import { agoText } from './ago.js';
import { columns } from './config-table.js';

/** How a plan is shown. */
export interface PlanView {
  /** Whether what is in use is listed as well. */
  readonly all: boolean;
}

/** Pods of the ranking that are shown. */
const RANKED = 10;
const HEADER = ['WHAT', 'NAME', 'ID', 'CLAIMED', 'UNIQUE', 'FREES', 'LAYERS', 'FIRST SEEN', 'LAST USE', 'WHY'];

/** A plan for people: what goes in order with the line where the target would be reached, what stays and why, and the pods. */
export function renderPlan(plan: RemovalPlan, { all }: PlanView): string {
  const goes = plan.entries.filter((each) => each.goes);
  const stays = plan.entries.filter((each) => !each.goes && (all || !each.inUse));
  const hidden = plan.entries.length - goes.length - stays.length;
  return [
    `Plan for ${plan.node.hostname}, ${plan.runtime} at ${plan.endpoint}, profile ${plan.profile}, layout ${plan.layout}. Nothing is changed.`,
    `Made at ${new Date(plan.madeAt).toISOString()}.`,
    '',
    ...targetLines(plan),
    '',
    ...plan.problems.map((each) => `Incomplete: ${each}`),
    ...plan.notes.map((each) => `Note: ${each}`),
    ...goesLines(plan, goes),
    '',
    ...(stays.length === 0 ? [] : ['What stays:', table(plan, stays), '']),
    ...(hidden === 0 ? [] : [`Not shown: ${hidden} in use (--all shows them).`, '']),
    ...rankingLines(plan),
    '',
  ].join('\n');
}

/** A plan as JSON, with the cut that the table draws as a line. */
export function planJson(plan: RemovalPlan): string {
  return `${JSON.stringify({ ...plan, cut: cutOf(plan) }, null, 2)}\n`;
}

function targetLines({ signal, available, capacity, goals }: RemovalPlan): readonly string[] {
  const standing = `${signal}: ${amountText(signal, available)} of ${amountText(signal, capacity)} available`;
  const wanted = goals.map((goal) => {
    const missing = goal.target - available;
    const short = missing > 0 ? `${amountText(goal.signal, missing)} missing` : 'reached';
    return `  target of ${goal.signal}: ${amountText(goal.signal, goal.target)} (${short})`;
  });
  return wanted.length === 0 ? [`${standing}; no target: everything that may go`] : [standing, ...wanted];
}

function goesLines(plan: RemovalPlan, goes: readonly PlanEntry[]): readonly string[] {
  if (goes.length === 0) return ['Nothing may go.'];
  const { after } = cutOf(plan);
  const lines = table(plan, goes).split('\n');
  const [header = '', ...rows] = lines;
  const cut = `---- ${cutText(plan)} ----`;
  const at = after ?? rows.length;
  return ['What goes, in this order:', header, ...rows.slice(0, at), cut, ...rows.slice(at)];
}

const BASES = {
  known: 'by what each frees',
  claimed: 'by claimed sizes, where nobody knows what is freed',
  unknown: 'at least, as nobody says how many inodes some of it frees',
} as const;

/** What the line says where the target would be reached. */
function cutText(plan: RemovalPlan): string {
  const { after, expected, basis } = cutOf(plan);
  const by = BASES[basis];
  const all = `all of it is expected to free ${amountText(plan.signal, expected)} ${by}`;
  if (plan.goals.length === 0) return all;
  if (plan.profile === 'kubelet') return `this profile removes all of it, whatever is enough; ${all}`;
  if (after === null) {
    const target = plan.goals.find((each) => each.signal === plan.signal)?.target ?? 0;
    return `not enough: ${all}, and ${amountText(plan.signal, Math.max(0, target - plan.available - expected))} are still missing`;
  }
  return after === 0
    ? 'the target is reached already: nothing has to go'
    : `here the target would be reached, ${by}; what follows goes only if that does not come true`;
}

function table(plan: RemovalPlan, entries: readonly PlanEntry[]): string {
  return columns(
    HEADER,
    entries.map((each) => [
      each.what,
      each.label,
      shortId(each),
      each.claimed === null ? 'unknown' : bytesText(each.claimed),
      freedText(plan, each.unique),
      each.goes ? freedText(plan, each.frees) : '-',
      layersText(each),
      agoText(each.firstSeen, plan.madeAt),
      each.lastUsed === null && each.what === 'image' ? 'never seen' : agoText(each.lastUsed, plan.madeAt),
      each.why,
    ]),
  );
}

/** What nobody knows is never 0. */
function freedText({ signal }: RemovalPlan, amount: number | null): string {
  return amount === null ? 'unknown' : amountText(signal, amount);
}

function layersText({ what, ownLayers, sharedLayers }: PlanEntry): string {
  if (what !== 'image') return '-';
  return ownLayers === null || sharedLayers === null ? 'unknown' : `${ownLayers} own, ${sharedLayers} shared`;
}

/** As much of an id as tools take; a directory has its name. */
function shortId({ what, id }: PlanEntry): string {
  if (what === 'pod-logs') return '-';
  return id.startsWith('sha256:') ? id.slice('sha256:'.length, 'sha256:'.length + 12) : id.slice(0, 13);
}

function rankingLines({ ranking, rankingProblem, signal }: RemovalPlan): readonly string[] {
  if (ranking === null) return [`Which pods would follow cannot be told: ${rankingProblem ?? 'nobody says why'}`];
  if (ranking.length === 0) return ['No pod runs here.'];
  const more = ranking.length - RANKED;
  return [
    'If that is not enough, pods would go in this order (apply never ends a pod):',
    ...ranking.slice(0, RANKED).map((each, index) => `  ${index + 1}. ${podText(each, signal)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

function podText(
  { label, priority, usage, request, protectedBy }: PlanStanding,
  signal: RemovalPlan['signal'],
): string {
  const amount = (value: number | null) => (value === null ? 'unknown' : amountText(signal, value));
  const stays = protectedBy === null ? '' : `; stays: ${protectedBy}`;
  return `${label} (priority ${priority ?? 'unknown'}, uses ${amount(usage)}, requests ${amount(request)}${stays})`;
}
