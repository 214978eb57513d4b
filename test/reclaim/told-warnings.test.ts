import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import type { Warning } from '../../src/eviction/warning.js';
import { RuntimeError, type RuntimePort } from '../../src/ports/runtime.js';
import { Notices } from '../../src/reclaim/notices.js';
import { RuntimeDeadlines } from '../../src/reclaim/runtime-deadlines.js';
import { TIME_IS_UP } from '../../src/reclaim/time-limit.js';
import { type WarningDeps, withPassWarnings } from '../../src/reclaim/told-warnings.js';
import { told } from '../fakes/collect-events.js';
import { eventOf, subject } from '../fakes/events.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { emptyWorld } from '../fakes/scenery.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

function teller(): WarningDeps & { readonly clock: VirtualClock } {
  const clock = new VirtualClock();
  const notices = new Notices(clock);
  return { clock, notices, deadlines: new RuntimeDeadlines(notices) };
}

async function* story(events: readonly EvictionEvent[]): AsyncGenerator<EvictionEvent, void> {
  yield* events;
}

/** What is said of a pass that tells these events. */
async function said(deps: WarningDeps, ...events: readonly EvictionEvent[]): Promise<readonly Warning[]> {
  const { events: all } = await told(withPassWarnings(deps, story(events)));
  return all.flatMap((event) => (event.kind === 'warning' ? [event.warning] : []));
}

const failed = (id: string, what: 'image' | 'container' = 'image') =>
  eventOf('removal-failed', { subject: subject({ id, label: id, what }), message: 'in use' });
const removed = (id: string) => eventOf('removed', { subject: subject({ id }) });

test('removals that failed are told together at the end of the pass, each kind of object by itself', async (t) => {
  t.deepEqual(await said(teller(), failed('a'), failed('c', 'container'), failed('b')), [
    {
      code: 'REMOVE_FAILED',
      what: 'images',
      failures: [
        { id: 'a', label: 'a', message: 'in use' },
        { id: 'b', label: 'b', message: 'in use' },
      ],
    },
    { code: 'REMOVE_FAILED', what: 'container', failures: [{ id: 'c', label: 'c', message: 'in use' }] },
  ]);
});

test('an id that goes on failing is told once, until it was removed', async (t) => {
  const deps = teller();
  await said(deps, failed('a'));
  t.deepEqual(await said(deps, failed('a')), []);
  await said(deps, removed('a'));
  t.is((await said(deps, failed('a'))).length, 1);
});

test('what failed and went at the next try of the same pass has not failed', async (t) => {
  t.deepEqual(await said(teller(), failed('a'), removed('a')), []);
});

test('an image that is listed after its removal is told as that', async (t) => {
  const event = eventOf('removal-failed', { subject: subject({ id: 'a', label: 'x:1' }), isStillListed: true });
  t.deepEqual(await said(teller(), event), [{ code: 'IMAGE_STILL_PRESENT', id: 'a', label: 'x:1' }]);
});

test('removals that change nothing are told once, until a collection ends in another way', async (t) => {
  const deps = teller();
  const futile = eventOf('reclaim-finished', { outcome: 'no-effect', removed: { image: 5 } });
  t.deepEqual(await said(deps, futile), [{ code: 'REMOVALS_DO_NOT_HELP', removals: 5 }]);
  t.deepEqual(await said(deps, futile), []);
  await said(deps, eventOf('reclaim-finished', { outcome: 'reached' }));
  t.is((await said(deps, futile)).length, 1);
});

test('a call that ran into its deadline is told once, until it answers', async (t) => {
  const deps = teller();
  const runtime = new FakeRuntime(emptyWorld());
  const watched = deps.deadlines.watch(runtime);
  runtime.fail('listImages', 'deadline');
  await t.throwsAsync(watched.listImages());
  t.like((await said(deps))[0], { code: 'RUNTIME_TIMEOUT', call: 'ListImages' });
  await t.throwsAsync(watched.listImages());
  t.deepEqual(await said(deps), []);
});

test('a call that we gave up as our own time for it was over counts as late, one that somebody ended does not', async (t) => {
  const deps = teller();
  const cancelled = new RuntimeError('given up', { kind: 'cancelled', call: 'ListContainerStats' });
  const runtime: RuntimePort = new FakeRuntime(emptyWorld());
  runtime.listContainerUsage = () => Promise.reject(cancelled);
  const watched = deps.deadlines.watch(runtime);
  await t.throwsAsync(watched.listContainerUsage(AbortSignal.abort()));
  t.deepEqual(await said(deps), []);
  await t.throwsAsync(watched.listContainerUsage(AbortSignal.abort(TIME_IS_UP)));
  t.like((await said(deps))[0], { call: 'ListContainerStats' });
});
