import test, { type ExecutionContext } from 'ava';
import { type ApplyWish, applyOnce, PlanRefused, planOnce } from '../../src/daemon/plan-once.js';
import { holdRuntime } from '../../src/daemon/run.js';
import { startEmbeddedRuntime } from '../../src/embedded/embedded-runtime.js';
import { BEHAVIOURS, type Behaviour } from '../../src/embedded/options.js';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { type Milliseconds, milliseconds } from '../../src/units/units.js';
import { limit } from '../fakes/builders.js';
import { MIB, mountsOf, settingsFor } from './daemon-scene.js';

const EVERYTHING = { signal: null, target: 'all' } as const;
const HOUR: Milliseconds = milliseconds(3_600_000);

/** A runtime on which nothing runs, with three images: two share their lowest layer, one is labelled. */
async function scene(t: ExecutionContext, behaviour: Behaviour = 'containerd-2', flags: readonly string[] = []) {
  const embedded = await startEmbeddedRuntime({
    behaviour,
    disk: { sizeBytes: 64 * MIB, layout: 'shared' },
    removalDelayMs: 0,
  });
  t.teardown(() => embedded.close());
  const layer = (seed: string, mib: number) => ({ seed, bytes: mib * MIB });
  await embedded.importImage({ name: 'a:1', layers: [layer('base', 2), layer('a', 1)] });
  await embedded.importImage({ name: 'b:1', layers: [layer('base', 2), layer('b', 1)] });
  await embedded.importImage({ name: 'kept:1', layers: [layer('kept', 1)], labels: { keep: 'yes' } });
  const settings = settingsFor(embedded, flags);
  const replacements = { mounts: mountsOf(embedded), kubeletRuns: () => Promise.resolve(false) };
  const { signal } = new AbortController();
  const events: EvictionEvent[] = [];
  return {
    embedded,
    events,
    plan: (asked: ApplyWish['asked'] = EVERYTHING) => planOnce(settings, asked, () => true, signal, replacements),
    apply: (wish: Partial<ApplyWish>) =>
      applyOnce(
        settings,
        { plan: null, asked: EVERYTHING, maxAge: HOUR, dryRun: false, ...wish },
        () => true,
        (event) => {
          events.push(event);
        },
        signal,
        replacements,
      ),
  };
}

for (const behaviour of Object.keys(BEHAVIOURS) as Behaviour[]) {
  test(`${behaviour}: where nobody tells sizes, layers are counted and what they free is unknown`, async (t) => {
    const { plan } = await scene(t, behaviour, ['--protect-image-label=keep=y*']);
    const made = await plan();
    t.deepEqual(
      made.entries
        .filter((each) => each.what === 'image')
        .map(({ label, goes, why, frees, ownLayers, sharedLayers }) => [
          label,
          goes,
          why.slice(0, 24),
          frees,
          ownLayers,
          sharedLayers,
        ])
        .toSorted(),
      [
        ['a:1', true, 'unused since first seen ', null, 1, 1],
        ['b:1', true, 'unused since first seen ', null, 1, 1],
        ['embedded.test/pause:1', false, 'the sandbox image', null, 1, 0],
        ['kept:1', false, 'protected by label keep=', null, 1, 0],
      ].toSorted(),
    );
    t.deepEqual(made.problems, []);
    t.regex(made.runtime, /^\S+ \S+$/);
  });
}

test('a plan that is made now is carried out until its target is measured', async (t) => {
  const { embedded, apply, events } = await scene(t);
  const { available } = await embedded.disks.node.read();
  const { result, left } = await apply({ asked: { signal: 'nodefs.available', target: limit(`${available + MIB}`) } });
  t.is(result?.outcome, 'reached');
  t.is(left, 3);
  t.is(events.filter((event) => event.kind === 'removed').length, 1);
});

test('a dry run says what would be left and touches nothing, beside a daemon too', async (t) => {
  const { embedded, plan, apply, events } = await scene(t);
  const made = await plan();
  await using _daemon = await holdRuntime(embedded.endpoint);
  const { result, left, changed } = await apply({ plan: made, dryRun: true });
  t.is(result, null);
  t.is(left, 3);
  t.deepEqual([changed, events], [[], []]);
  t.is((await plan()).entries.filter((each) => each.goes).length, 3);
});

test('beside a daemon nothing is applied, and it is said what to do', async (t) => {
  const { embedded, apply } = await scene(t);
  await using _daemon = await holdRuntime(embedded.endpoint);
  await t.throwsAsync(apply({}), { message: /beside a daemon; stop it first \(systemctl stop reclaimd\)/ });
});

test('a plan of another node, of another runtime, or that is too old is refused before anything is done', async (t) => {
  const { plan, apply, events } = await scene(t);
  const made = await plan();
  for (const changes of [
    { node: { hostname: 'elsewhere', machineId: 'f'.repeat(32) } },
    { endpoint: 'unix:///elsewhere.sock' },
    { madeAt: (made.madeAt - 3_700_000) as typeof made.madeAt }, // an instant an hour earlier
  ]) {
    await t.throwsAsync(apply({ plan: { ...made, ...changes } }), { instanceOf: PlanRefused });
  }
  t.deepEqual(events, []);
  const old = { ...made, madeAt: (made.madeAt - 3_700_000) as typeof made.madeAt };
  t.is((await apply({ plan: old, maxAge: milliseconds(7_200_000) })).changed.length, 0);
});

test('a plan with a hole in it is not applied', async (t) => {
  const { embedded, apply, events } = await scene(t);
  for (const call of ['ListImages', 'StreamImages']) embedded.faults.fail({ call }, 'INTERNAL');
  await t.throwsAsync(apply({}), { message: /^Cannot apply the plan as the images cannot be listed/ });
  t.deepEqual(events, []);
});
