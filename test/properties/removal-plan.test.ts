import test from 'ava';
import fc from 'fast-check';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { planFromText, planToText } from '../../src/gc/plan-file.js';
import type { RemovalPlan } from '../../src/gc/removal-plan.js';
import { planRemovals } from '../../src/manager/plan-removals.js';
import { PortError } from '../../src/ports/port-error.js';
import { applyPlan, checkPlan } from '../../src/reclaim/apply-plan.js';
import { told } from '../fakes/collect-events.js';
import { HERE, planningOf } from '../fakes/planning.js';
import { GONE, putContainer } from '../fakes/scenery.js';
import { buildNode } from './build-node.js';
import { Judge } from './judge.js';
import { holds } from './law.js';
import { type NodePlan, nodePlan } from './world-arbitrary.js';

/** How many random nodes. */
const RUNS = Math.min(20_000, Number(process.env['RECLAIMD_PROPERTY_RUNS'] ?? 2_000));

const WISHES = { protectedImages: ['keep/*'], sandboxImage: 'sandbox:1' } as const;

/** What happens between the making of a plan and its application. */
const meanwhile = fc.record({
  everything: fc.boolean(),
  used: fc.array(fc.nat({ max: 7 }), { maxLength: 2 }),
  started: fc.array(fc.nat({ max: 7 }), { maxLength: 2 }),
  gone: fc.array(fc.nat({ max: 7 }), { maxLength: 2 }),
});

test('whatever the node and whatever happens meanwhile, a plan is applied in its order and no further', async (t) => {
  t.timeout(600_000);
  await fc.assert(fc.asyncProperty(nodePlan, meanwhile, planAndApply), { numRuns: RUNS, includeErrorInReport: true });
  t.pass();
});

async function planAndApply(spec: NodePlan, between: typeof meanwhile extends fc.Arbitrary<infer T> ? T : never) {
  const node = buildNode({ ...spec, births: [], starts: [] });
  const { world, runtime } = node;
  const planner = planningOf(node, { ...WISHES, minAge: spec.minAge });
  const { signal } = new AbortController();
  const asked = { signal: null, target: between.everything ? ('all' as const) : null };
  const make = async () => world.clock.run(planRemovals(planner, asked, HERE, signal));
  const first = await make();
  holds(runtime.mutations.length === 0, 'making a plan has changed something');
  const { plan } = first;
  isSafe(plan, spec);
  const kept = planFromText(planToText(plan));
  holds(kept.kind === 'plan', 'a plan that was saved cannot be read');

  for (const each of between.used) {
    const id = `sha256:image-${each}`;
    if (world.images.has(id))
      putContainer(world, `late-user-${each}`, GONE, { state: 'running', base: id, mib: 0, logPath: '' });
  }
  for (const each of between.started) {
    if (world.containers.get(`container-${each}`)?.state === 'created') world.setState(`container-${each}`, 'running');
  }
  for (const each of between.gone) {
    if (world.images.has(`sha256:image-${each}`)) world.removeImage(`sha256:image-${each}`);
  }

  const judge = new Judge(node, false);
  judge.passBegins();
  const planned = plan.entries.filter((each) => each.goes).map((each) => each.id);
  judge.hears({ kind: 'reclaim-planned', at: world.clock.now(), what: 'image', subjects: subjectsOf(plan) });
  runtime.beforeEffect = (made) => {
    judge.sees(made);
  };
  const now = await make().catch((error: unknown) => {
    if (error instanceof PortError) return null;
    throw error;
  });
  if (now === null || kept.kind !== 'plan') return;
  const checked = checkPlan(kept.plan, { entries: now.plan.entries, steps: now.steps });
  const { events } = await world.clock.run(told(applyPlan(checked, now.run)));
  for (const event of events) judge.hears(event);
  judge.passEnds();
  inOrder(events, planned);
}

/** Never an image in use, pinned, protected or of the sandboxes; what is in use goes in no plan. */
function isSafe(plan: RemovalPlan, spec: NodePlan): void {
  const goes = plan.entries.filter((each) => each.goes);
  holds(new Set(goes.map((each) => `${each.what} ${each.id}`)).size === goes.length, 'something is planned twice');
  for (const { id, what, inUse } of goes) {
    holds(!inUse, `${id} is in use and is planned`);
    if (what !== 'image') continue;
    const index = Number(id.slice('sha256:image-'.length));
    holds(spec.images[index]?.guard === 'none', `${id} is pinned, protected or the sandbox image and is planned`);
  }
  const firstStay = plan.entries.findIndex((each) => !each.goes);
  holds(
    firstStay === -1 || plan.entries.slice(firstStay).every((each) => !each.goes),
    'what stays stands among what goes',
  );
}

/** What was removed is in the plan, in its order: those that ran side by side may end in another one. */
function inOrder(events: readonly EvictionEvent[], planned: readonly string[]): void {
  const removed = events.flatMap((event) => (event.kind === 'removed' ? [planned.indexOf(event.subject.id)] : []));
  holds(!removed.includes(-1), 'something was removed that was not planned');
  holds(new Set(removed).size === removed.length, 'something was removed twice');
  const isLate = events.some((event) => event.kind === 'removal-failed');
  holds(
    isLate || removed.every((each, index) => index === 0 || each > (removed[index - 1] ?? -1)),
    'the order was another',
  );
}

function subjectsOf(plan: RemovalPlan) {
  return plan.entries
    .filter((each) => each.goes)
    .map(({ what, id, label, why, claimed }) => ({ what, id, label, reason: why, claimed }));
}
