import test from 'ava';
import { planRemovals } from '../../src/manager/plan-removals.js';
import { applyPlan, checkPlan } from '../../src/reclaim/apply-plan.js';
import { bytes } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { told } from '../fakes/collect-events.js';
import { FakeNode, ofKind } from '../fakes/fake-node.js';
import type { FakeWorld } from '../fakes/fake-world.js';
import { HERE, planningOf } from '../fakes/planning.js';
import { emptyWorld, GONE, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const BASE = { id: 'base', bytes: 30 * MIB, inodes: 1 };

/** A gone pod's container of 20 MiB with 5 MiB of log, two unused images that share 30 MiB, and one in use. */
function garbage(): FakeWorld {
  const world = emptyWorld();
  putContainer(world, 'dead', GONE, { mib: 20, logMib: 5 });
  for (const name of ['a', 'b']) {
    putImage(world, name, { layers: [BASE, { id: name, bytes: 10 * MIB, inodes: 1 }] });
  }
  putImage(world, 'used', { mib: 10 });
  putContainer(world, 'server', putPod(world, 'web'), { state: 'running', base: 'sha256:used', mib: 0 });
  world.disks.nodefs.fillUntilFree(50 * MIB);
  return world;
}

function scene(line: string, world: FakeWorld = garbage()) {
  const node = new FakeNode(world, { thresholds: [threshold('nodefs.available', line)] });
  const planner = planningOf(node);
  const { signal } = new AbortController();
  const plan = (target: 'all' | null = null) =>
    world.clock.run(planRemovals(planner, { signal: null, target }, HERE, signal));
  return { world, node, plan };
}

const idsOf = (subjects: readonly { readonly subject: { readonly id: string } }[]) =>
  subjects.map((each) => each.subject.id);

test('what each entry is said to free is what the disk gets back', async (t) => {
  const { world, plan } = scene('100Mi');
  const ready = await plan('all');
  const frees = ready.plan.entries.filter((each) => each.goes).map((each) => [each.id, each.frees]);
  t.deepEqual(frees, [
    ['dead', 25 * MIB],
    ['sha256:a', 20 * MIB + 4_096],
    ['sha256:b', 80 * MIB + 4_096],
  ]);
  t.is(ready.plan.entries.find((each) => each.id === 'sha256:a')?.unique, bytes(20 * MIB + 4_096));
  const before = world.disks.nodefs.freeBytes;
  const { events } = await world.clock.run(
    told(applyPlan(checkPlan(ready.plan, { entries: ready.plan.entries, steps: ready.steps }), ready.run)),
  );
  t.deepEqual(idsOf(ofKind(events, 'removed')), ['dead', 'sha256:a', 'sha256:b']);
  t.is(world.disks.nodefs.freeBytes - before, 125 * MIB + 2 * 4_096);
});

test('an application stops where the target is measured', async (t) => {
  const { world, plan } = scene('90Mi');
  const { plan: made, run, steps } = await plan();
  const { events, result } = await world.clock.run(
    told(applyPlan(checkPlan(made, { entries: made.entries, steps }), run)),
  );
  t.is(result.outcome, 'reached');
  t.deepEqual(idsOf(ofKind(events, 'removed')), ['dead', 'sha256:a']);
});

test('a target that is reached already removes nothing', async (t) => {
  const { world, node, plan } = scene('40Mi');
  const { plan: made, run, steps } = await plan();
  const { result } = await world.clock.run(told(applyPlan(checkPlan(made, { entries: made.entries, steps }), run)));
  t.is(result.outcome, 'reached');
  t.deepEqual(node.runtime.mutations, []);
});

test('what has changed since is left alone and said; nothing else goes in its place', async (t) => {
  const { world, plan } = scene('900Mi');
  const first = await plan();
  putContainer(world, 'newcomer', GONE, { state: 'running', base: 'sha256:a', mib: 0 });
  world.removeContainer('dead');
  putImage(world, 'fresh', { mib: 10 });
  const now = await plan();
  const checked = checkPlan(first.plan, { entries: now.plan.entries, steps: now.steps });
  t.deepEqual(
    checked.changed.map(({ entry, why }) => [entry.id, why]),
    [
      ['dead', 'it is gone already'],
      ['sha256:a', 'used by container newcomer'],
    ],
  );
  const { events, result } = await world.clock.run(told(applyPlan(checked, now.run)));
  t.deepEqual(idsOf(ofKind(events, 'removal-skipped')), ['dead', 'sha256:a']);
  t.deepEqual(idsOf(ofKind(events, 'removed')), ['sha256:b']);
  t.is(result.outcome, 'exhausted');
  t.true(world.images.has('sha256:fresh'));
});

test('an entry that stands in a plan twice is removed once', async (t) => {
  const { plan } = scene('900Mi');
  const { plan: made, steps } = await plan();
  const doubled = { entries: [...made.entries, ...made.entries] };
  const { parts } = checkPlan(doubled, { entries: made.entries, steps });
  t.is(
    parts.reduce((sum, each) => sum + each.removals.length, 0),
    made.entries.filter((each) => each.goes).length,
  );
});
