import { type AskedPressure, askedPressure } from '../eviction/asked-pressure.js';
import type { Pressed } from '../eviction/decide.js';
import { deviceUnder } from '../eviction/layout.js';
import { SIGNALS, type Signal } from '../eviction/signal.js';
import { INITIAL_STATE } from '../eviction/state.js';
import { contentOfLayers, type ImageContent, type Measure } from '../gc/image-content.js';
import type { OwnerScope } from '../gc/owner-scope.js';
import type { ContainerLimits } from '../gc/plan-containers.js';
import { containerEntries, imageEntries, logEntries, sandboxEntries } from '../gc/plan-entries.js';
import type { NodeIdentity, PlanEntry, PlanStanding, RemovalPlan } from '../gc/removal-plan.js';
import type { ImageConfigsPort } from '../ports/image-configs.js';
import type { ImageContentPort } from '../ports/image-content.js';
import type { LogFilesPort } from '../ports/log-files.js';
import { PortError } from '../ports/port-error.js';
import type { Arrivals } from '../reclaim/arrivals.js';
import { containerFacts } from '../reclaim/container-facts.js';
import type { ContainerPlanner, PreparedContainers } from '../reclaim/container-gc.js';
import type { ImagePlanner, PreparedImages } from '../reclaim/image-gc.js';
import { forEachBounded } from '../reclaim/image-volumes.js';
import type { PreparedLogs } from '../reclaim/orphan-logs.js';
import { messageOf, type PreparedStep, toError } from '../reclaim/removal.js';
import type { ReclaimRun } from '../reclaim/run.js';
import { milliseconds } from '../units/units.js';
import { rank } from './candidates.js';
import { type CycleDeps, Pass } from './pass.js';

/** What planning by hand works with, beside what a pass does. */
export interface PlanningDeps extends CycleDeps {
  readonly containerPlanner: ContainerPlanner;
  readonly imagePlanner: ImagePlanner;
  /** Finds log directories of nobody. */
  prepareLogs(abort: AbortSignal): Promise<PreparedLogs>;
  readonly logFiles: Pick<LogFilesPort, 'list' | 'size'>;
  /** What images share on the disk; null = nobody says. */
  readonly imageContent: ImageContentPort | null;
  /** Hears when images came, before they are planned for; null = nobody asks. */
  readonly arrivals: Arrivals | null;
  /** What layers images have, where the above says nothing; null = nobody says. */
  readonly imageConfigs: ImageConfigsPort | null;
  readonly limits: ContainerLimits;
  readonly ownerScope: OwnerScope;
}

/** Where a plan is made. */
export interface PlanPlace {
  readonly node: NodeIdentity;
  readonly endpoint: string;
  readonly runtime: string;
}

/** A plan with what carries it out. */
export interface ReadyPlan {
  readonly plan: RemovalPlan;
  /** The steps in the order of the plan. */
  readonly steps: readonly PreparedStep[];
  readonly run: ReclaimRun;
}

/** Sizes may take a moment here: nobody waits for space. */
const SIZES_WITHIN = milliseconds(10_000);
/** Questions for configurations under way at a time. */
const CONCURRENCY = 8;

/**
 * Makes the plan that a pass would make if a line were missed, by the same planners. Changes nothing. Rejects with a `PortError`
 * when there is nothing to plan for; what cannot be listed is named in the plan.
 */
export async function planRemovals(
  deps: PlanningDeps,
  asked: AskedPressure,
  place: PlanPlace,
  abort: AbortSignal,
): Promise<ReadyPlan> {
  const pass = new Pass(deps, INITIAL_STATE, abort);
  for await (const _ of pass.look());
  const { observations } = pass.state;
  const pressed = askedPressure(asked, observations, pass.layout, pass.settings);
  const seen = pressed === null ? undefined : observations.get(pressed.threshold.signal);
  if (pressed === null || seen === undefined) throw new PortError(whyNoPlan(pass, asked.signal));
  const { signal } = pressed.threshold;
  const run = asked.target === 'all' ? withoutEnd(pass.runFor(pressed)) : pass.runFor(pressed);
  const measure = SIGNALS[signal].unit === 'bytes' ? 'bytes' : 'inodes';
  const problems: string[] = [];
  const notes: string[] = [];
  const told = async <Prepared>(what: string, prepare: () => Promise<Prepared>): Promise<Prepared | null> => {
    const prepared = await prepare().catch(toError);
    if (!(prepared instanceof Error)) return prepared;
    problems.push(`the ${what} cannot be listed: ${messageOf(prepared)}`);
    return null;
  };
  const wants = new Set(pressed.steps);
  const containers = wants.has('containers')
    ? await told('containers', () => deps.containerPlanner.prepareContainers(run))
    : null;
  const logs =
    wants.has('containers') && isOnDeviceOf(pass, 'nodefs.available', signal)
      ? await told('log directories', () => deps.prepareLogs(abort))
      : null;
  const content = wants.has('images') ? await contentOf(deps, notes, abort) : null;
  const images = wants.has('images') ? await told('images', () => deps.imagePlanner.prepareImages(run)) : null;
  const entries = [
    ...(containers === null ? [] : await entriesOfContainers(pass, deps, containers, signal, measure)),
    ...(logs === null ? [] : logEntries(logs.judged, measure)),
    ...(images === null ? [] : await entriesOfImages(deps, images, content, measure, notes, abort)),
  ];
  const goes = new Set(entries.flatMap((each) => (each.goes ? [each.id] : [])));
  const ranking = await rankingAfter(pass, pressed, goes).catch(toError);
  const plan: RemovalPlan = {
    ...place,
    madeAt: deps.clock.wall(),
    profile: pass.settings.policy.name,
    signal,
    layout: pass.layout,
    capacity: seen.capacity,
    available: seen.available,
    goals: pressed.goals,
    entries: [...entries.filter((each) => each.goes), ...entries.filter((each) => !each.goes)],
    ranking: ranking instanceof Error ? null : ranking,
    rankingProblem: ranking instanceof Error ? messageOf(ranking) : null,
    problems,
    notes,
  };
  const steps = [containers?.containers, containers?.sandboxes, logs ?? undefined, images ?? undefined];
  return { plan, run, steps: steps.filter((each) => each !== undefined) };
}

/** A run that ends with its plan and not before. */
function withoutEnd(run: ReclaimRun): ReclaimRun {
  return { ...run, policy: { ...run.policy, gc: { ...run.policy.gc, amount: 'everything' } } };
}

async function entriesOfContainers(
  pass: Pass,
  deps: PlanningDeps,
  { containers, sandboxes, listed }: PreparedContainers,
  signal: Signal,
  measure: Measure,
): Promise<readonly PlanEntry[]> {
  const subjects = containers.removals.map((each) => each.subject);
  const going = new Set(subjects.map((each) => each.id));
  const dead = listed.containers.filter((each) => each.state !== 'running').map((each) => each.id);
  const facts = await containerFacts(deps, dead, measure, SIZES_WITHIN, pass.abort);
  const rules = {
    limits: deps.limits,
    createdCountsAsDead: pass.settings.policy.gc.createdCountsAsDead,
    ownerScope: deps.ownerScope,
    now: deps.clock.wall(),
    here: {
      layers: isOnDeviceOf(pass, 'containerfs.available', signal),
      logs: isOnDeviceOf(pass, 'nodefs.available', signal),
    },
  };
  const staying = listed.containers.filter((each) => !going.has(each.id));
  return [
    ...containerEntries(subjects, listed.containers, facts, rules),
    ...sandboxEntries(
      sandboxes.removals.map((each) => each.subject),
      listed.sandboxes,
      staying,
      rules,
    ),
  ];
}

async function entriesOfImages(
  deps: PlanningDeps,
  { judged, use, history, unusedRules }: PreparedImages,
  known: ImageContent | null,
  measure: Measure,
  notes: string[],
  abort: AbortSignal,
): Promise<readonly PlanEntry[]> {
  for (const rule of unusedRules) notes.push(`a rule that protects images fits none: ${rule}`);
  for (const { reference, container } of use.unresolved) {
    notes.push(
      `container ${container.slice(0, 13)} names an image that nobody knows, which protects none: ${reference}`,
    );
  }
  return imageEntries(judged, use, history, known ?? (await layersOnly(deps, judged, abort)), measure);
}

/** What the runtime's records tell; it is told first, since the order of images may depend on when they came. */
async function contentOf(
  { imageContent, arrivals }: PlanningDeps,
  notes: string[],
  abort: AbortSignal,
): Promise<ImageContent | null> {
  const content = (await imageContent?.imageContent(abort).catch(toError)) ?? null;
  if (content instanceof Error) {
    notes.push(`what images share on the disk cannot be told: ${messageOf(content)}`);
    return null;
  }
  if (content !== null) arrivals?.learn(content.arrivedAt);
  return content;
}

/** How many layers are shared, at least, where nobody says how large they are. */
async function layersOnly(
  { imageConfigs }: PlanningDeps,
  judged: PreparedImages['judged'],
  abort: AbortSignal,
): Promise<ImageContent | null> {
  if (imageConfigs === null) return null;
  const layers = new Map<string, readonly string[]>();
  await forEachBounded(judged, CONCURRENCY, async ({ item }) => {
    const config = await imageConfigs.imageConfig(item.id, abort).catch(() => null);
    if (config !== null && config.layers.length > 0) layers.set(item.id, config.layers);
  });
  return layers.size === 0 ? null : contentOfLayers(layers);
}

async function rankingAfter(
  pass: Pass,
  pressed: Pressed,
  without: ReadonlySet<string>,
): Promise<readonly PlanStanding[]> {
  const ranking = rank(pass, pressed, without);
  for (;;) {
    const next = await ranking.next();
    if (next.done !== true) continue;
    return next.value.standings.map(({ label, priority, usage, request, protectedBy }) => ({
      label,
      priority,
      usage,
      request,
      protectedBy,
    }));
  }
}

function isOnDeviceOf(pass: Pass, signal: Signal, other: Signal): boolean {
  const [a, b] = [SIGNALS[signal].filesystem, SIGNALS[other].filesystem];
  return a !== null && b !== null && deviceUnder(a, pass.layout) === deviceUnder(b, pass.layout);
}

function whyNoPlan(pass: Pass, signal: Signal | null): string {
  const unknown = signal === null ? undefined : pass.state.unknown.get(signal);
  if (unknown !== undefined) return `Cannot plan as ${signal} must be known: ${unknown.detail}`;
  if (signal !== null && SIGNALS[signal].filesystem === null) {
    return `Cannot plan as the signal must be one of a disk: ${signal}`;
  }
  return `Cannot plan as a disk signal must have a threshold, or a target be given: ${signal ?? 'none'}`;
}
