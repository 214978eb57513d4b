import test from 'ava';
import fc from 'fast-check';
import { ofKind } from '../fakes/fake-node.js';
import { GONE, putContainer } from '../fakes/scenery.js';
import { buildNode } from './build-node.js';
import { Broken, Judge } from './judge.js';
import { type NodePlan, nodePlan } from './world-arbitrary.js';

/** How many random nodes; they take about ten seconds a thousand. */
const RUNS = Number(process.env['RECLAIMD_PROPERTY_RUNS'] ?? 10_000);
/** Passes after which a node has come to rest, or is known not to. */
const MOST_PASSES = 8;

test('whatever the node, no pass breaks a rule of safety', async (t) => {
  t.timeout(1_800_000);
  await fc.assert(fc.asyncProperty(nodePlan, liveThrough), { numRuns: RUNS, includeErrorInReport: true });
  t.pass();
});

/** Passes over one node until it rests; throws when a rule is broken. */
async function liveThrough(plan: NodePlan): Promise<void> {
  const node = buildNode(plan);
  const judge = new Judge(node, !plan.hard && plan.minAge > 0);
  let calls = 0;
  node.runtime.beforeEffect = (made) => {
    calls += 1;
    for (const birth of plan.births) if (birth.call === calls) bear(node.world, plan, birth);
    for (const start of plan.starts) if (start.call === calls) startCreated(node.world, start.container);
    judge.sees(made);
  };
  await node.rehearse();
  if (node.runtime.mutations.length > 0) throw new Broken('a dry run has changed something');
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    judge.passBegins();
    const events = await node.pass('act', (event) => {
      judge.hears(event);
    });
    judge.passEnds();
    const isAtRest = ofKind(events, 'removed').length === 0 && node.state.evictionUnderWay === null;
    if (isAtRest && pass > 0) return;
  }
}

/** The kubelet starts a container of an image that is there. It takes no space: what is missing stays as planned. */
function bear(world: ReturnType<typeof buildNode>['world'], plan: NodePlan, birth: NodePlan['births'][number]): void {
  const id = `sha256:image-${birth.image % Math.max(1, plan.images.length)}`;
  if (!world.images.has(id)) return;
  putContainer(world, `born-${birth.call}-${birth.image}`, GONE, {
    state: 'running',
    base: id,
    mib: 0,
    inodes: 0,
    logPath: '',
  });
}

/** The kubelet starts a container that it has created. */
function startCreated(world: ReturnType<typeof buildNode>['world'], index: number): void {
  const id = `container-${index}`;
  if (world.containers.get(id)?.state === 'created') world.setState(id, 'running');
}
