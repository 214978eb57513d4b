import type { Pressed } from '../eviction/decide.js';
import type { EvictionEvent } from '../eviction/event.js';
import { SIGNALS } from '../eviction/signal.js';
import { chooseVictim } from '../eviction/victim.js';
import { imageSubject } from '../reclaim/image-gc.js';
import { messageOf } from '../reclaim/removal.js';
import { rank } from './evict.js';
import type { Pass } from './pass.js';

/** The dry run: what would go, in order, with the part that is only needed if the listed sizes do not come back. */
export async function* tellPlan(pass: Pass, pressed: Pressed): AsyncGenerator<EvictionEvent, void> {
  const run = pass.runFor(pressed);
  const { containerGC, imageGC } = pass.deps;
  const available = await run.look();
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
  try {
    const containers = pressed.steps.includes('containers') ? await containerGC.planUnusedContainers(run) : [];
    const images = pressed.steps.includes('images') ? await imageGC.planUnusedImages(run) : [];
    const subjects = [
      ...containers.map((each) => each.subject),
      ...images.flatMap(({ item, verdict }) => (verdict.kind === 'goes' ? [imageSubject(item, verdict.why)] : [])),
    ];
    for (const subject of subjects) {
      yield* pass.tell({ kind: 'would-remove', at: pass.now(), subject, onlyIfNeeded: left <= 0 });
      if (pass.settings.policy.gc.amount === 'until-target') left -= subject.claimed ?? 0;
    }
    const { standings } = await rank(pass, pressed);
    const victim = chooseVictim(standings, left, pass.settings.policy);
    if (victim.kind === 'nobody') return;
    const { standing } = victim;
    yield* pass.tell({
      kind: 'would-evict',
      at: pass.now(),
      standing,
      threshold: pressed.threshold,
      onlyIfNeeded: subjects.length > 0,
    });
  } catch (error) {
    yield* pass.tell({ kind: 'list-failed', at: pass.now(), what: 'what would go', message: messageOf(error) });
  }
}
