import type { Pressed } from '../eviction/decide.js';
import type { Availability, EvictionEvent, RemovalSubject } from '../eviction/event.js';
import type { Observations } from '../eviction/observe.js';
import type { Standing } from '../eviction/rank.js';
import { SIGNALS } from '../eviction/signal.js';
import type { ReclaimStep } from '../eviction/steps.js';
import { chooseVictim } from '../eviction/victim.js';
import type { JudgedImage } from '../gc/plan-images.js';
import { imageSubject } from '../reclaim/image-gc.js';
import type { PlannedRemoval } from '../reclaim/planned-removal.js';
import { messageOf, toError } from '../reclaim/removal.js';
import type { ReclaimRun } from '../reclaim/run.js';
import { rank } from './candidates.js';
import { helpless } from './evict.js';
import type { Pass } from './pass.js';

/** What would be done about one pressed device, made as a real pass makes it, before any of it is told. */
interface PressurePlan {
  /** Of each collector, in order. */
  readonly steps: readonly {
    readonly step: ReclaimStep;
    /** What would go, in order, described while it is told; or why the collector cannot tell. */
    readonly subjects: Iterable<RemovalSubject> | Error;
  }[];
  /** The pods in the order in which they would go; or why they cannot be listed. */
  readonly ranking: readonly Standing[] | Error;
}

/** The dry run: what would go, in order, with the part that is only needed if the listed sizes do not come back. */
export async function* tellPlan(pass: Pass, pressed: Pressed): AsyncGenerator<EvictionEvent, void> {
  const run = pass.runFor(pressed);
  const seen = pass.state.observations;
  // Memory and processes are not looked at between removals: what the pass has seen stands for them.
  const available = { ...availabilityOf(pressed, seen), ...(await run.look()) };
  yield* pass.tell({
    kind: 'reclaim-started',
    at: pass.now(),
    threshold: pressed.threshold,
    resource: SIGNALS[pressed.threshold.signal].resource,
    goals: pressed.goals,
    available,
    steps: pressed.steps,
  });
  const { steps, ranking } = yield* plan(pass, pressed, run);
  let left = pressed.goals.reduce((most, goal) => Math.max(most, goal.target - (available[goal.signal] ?? 0)), 0);
  let planned = 0;
  for (const { step, subjects } of steps) {
    if (subjects instanceof Error) {
      const what = `the ${step} that would go`;
      yield* pass.tell({ kind: 'list-failed', at: pass.now(), what, message: messageOf(subjects) });
      continue;
    }
    for (const subject of subjects) {
      planned += 1;
      yield* pass.tell({ kind: 'would-remove', at: pass.now(), subject, onlyIfNeeded: left <= 0 });
      if (pass.settings.policy.gc.amount === 'until-target') left -= subject.claimed ?? 0;
    }
  }
  if (ranking instanceof Error) {
    const message = messageOf(ranking);
    yield* pass.tell({ kind: 'list-failed', at: pass.now(), what: 'the pods to choose from', message });
    return;
  }
  const victim = chooseVictim(ranking, left, pass.settings.policy);
  if (victim.kind === 'nobody') return yield* helpless(pass, pressed, victim.reason);
  const { standing } = victim;
  const { threshold } = pressed;
  yield* pass.tell({ kind: 'would-evict', at: pass.now(), standing, threshold, onlyIfNeeded: planned > 0 });
}

/** The collectors work one by one, so they plan one by one: that one cannot ask hides nothing of what the other would do. */
async function* plan(pass: Pass, pressed: Pressed, run: ReclaimRun): AsyncGenerator<EvictionEvent, PressurePlan> {
  const { containerGC, imageGC } = pass.deps;
  const steps: PressurePlan['steps'][number][] = [];
  const going = new Set<string>();
  for (const step of pressed.steps) {
    switch (step) {
      case 'containers': {
        const removals = await containerGC.planUnusedContainers(run).catch(toError);
        steps.push({ step, subjects: removals instanceof Error ? removals : subjectsOf(removals) });
        if (!(removals instanceof Error)) for (const { id } of removals) going.add(id);
        break;
      }
      case 'images': {
        const judged = await imageGC.planUnusedImages(run).catch(toError);
        steps.push({ step, subjects: judged instanceof Error ? judged : subjectsOfImages(judged) });
        break;
      }
    }
  }
  try {
    const { standings } = yield* rank(pass, pressed, going);
    return { steps, ranking: standings };
  } catch (error) {
    return { steps, ranking: toError(error) };
  }
}

function availabilityOf({ goals }: Pressed, seen: Observations): Availability {
  return Object.fromEntries(
    goals.flatMap(({ signal }) => {
      const observation = seen.get(signal);
      return observation === undefined ? [] : [[signal, observation.available]];
    }),
  );
}

function* subjectsOf(removals: readonly PlannedRemoval[]): Generator<RemovalSubject> {
  for (const { subject } of removals) yield subject;
}

function* subjectsOfImages(judged: readonly JudgedImage[]): Generator<RemovalSubject> {
  for (const { item, verdict } of judged) if (verdict.kind === 'goes') yield imageSubject(item, verdict.why);
}
