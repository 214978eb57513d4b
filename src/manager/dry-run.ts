import type { Pressed } from '../eviction/decide.js';
import type { Availability, EvictionEvent, RemovalSubject } from '../eviction/event.js';
import type { Observations } from '../eviction/observe.js';
import { SIGNALS } from '../eviction/signal.js';
import type { ReclaimStep } from '../eviction/steps.js';
import { chooseVictim } from '../eviction/victim.js';
import { imageSubject } from '../reclaim/image-gc.js';
import { messageOf, toError } from '../reclaim/removal.js';
import type { ReclaimRun } from '../reclaim/run.js';
import { rank } from './candidates.js';
import { helpless } from './evict.js';
import type { Pass } from './pass.js';

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
  let left = pressed.goals.reduce((most, goal) => Math.max(most, goal.target - (available[goal.signal] ?? 0)), 0);
  const planned = new Set<string>();
  // The collectors work one by one, so they tell one by one: that one cannot ask hides nothing of what the other would do.
  for (const step of pressed.steps) {
    const subjects = await subjectsOf(step, pass, run).catch(toError);
    if (subjects instanceof Error) {
      const what = `the ${step} that would go`;
      yield* pass.tell({ kind: 'list-failed', at: pass.now(), what, message: messageOf(subjects) });
      continue;
    }
    for (const subject of subjects) {
      planned.add(subject.id);
      yield* pass.tell({ kind: 'would-remove', at: pass.now(), subject, onlyIfNeeded: left <= 0 });
      if (pass.settings.policy.gc.amount === 'until-target') left -= subject.claimed ?? 0;
    }
  }
  try {
    const { standings } = yield* rank(pass, pressed, planned);
    const victim = chooseVictim(standings, left, pass.settings.policy);
    if (victim.kind === 'nobody') return yield* helpless(pass, pressed, victim.reason);
    const { standing } = victim;
    yield* pass.tell({
      kind: 'would-evict',
      at: pass.now(),
      standing,
      threshold: pressed.threshold,
      onlyIfNeeded: planned.size > 0,
    });
  } catch (error) {
    yield* pass.tell({
      kind: 'list-failed',
      at: pass.now(),
      what: 'the pods to choose from',
      message: messageOf(error),
    });
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

async function subjectsOf(step: ReclaimStep, pass: Pass, run: ReclaimRun): Promise<readonly RemovalSubject[]> {
  const { containerGC, imageGC } = pass.deps;
  switch (step) {
    case 'containers':
      return (await containerGC.planUnusedContainers(run)).map((each) => each.subject);
    case 'images':
      return (await imageGC.planUnusedImages(run)).flatMap(({ item, verdict }) =>
        verdict.kind === 'goes' ? [imageSubject(item, verdict.why)] : [],
      );
  }
}
