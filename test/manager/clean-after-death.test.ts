import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import { cleanAfterDeaths } from '../../src/manager/clean-after-death.js';
import { DeathHints } from '../../src/manager/death-hints.js';
import type { ContainerRecord } from '../../src/ports/runtime.js';
import { ContainerDeletor } from '../../src/reclaim/container-deletor.js';
import { instant, milliseconds } from '../../src/units/units.js';
import { ContainerRuntime } from '../conformance/fakes/container-runtime.js';
import { refusal } from '../conformance/fakes/image-runtime.js';
import { containerRecord } from '../conformance/fakes/records.js';
import { told } from '../conformance/fakes/run-events.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

function instance(attempt: number, state: ContainerRecord['state']): ContainerRecord {
  const pod = { uid: 'uid', namespace: 'ns', name: 'pod' };
  return containerRecord({ id: `app-${attempt}`, name: 'app', attempt, state, createdAt: instant(attempt), pod });
}

function scene(isGone: () => boolean = () => false, hints: DeathHints | null = null) {
  const clock = new VirtualClock(0);
  const runtime = new ContainerRuntime();
  const end = new AbortController();
  const deletor = new ContainerDeletor({
    runtime,
    logs: { remove: async () => undefined },
    keepsUnverified: true,
    clock,
    kept: 1,
  });
  const answers = async () => ({
    allSourcesReady: true,
    contentMayBeRemoved: isGone,
    runtimeMayBeRemoved: () => false,
  });
  const slowly = hints === null ? {} : { hints, pause: milliseconds(10_000) };
  const noticing = told(cleanAfterDeaths({ runtime, deletor, clock, answers, ...slowly }, end.signal));
  const removing = told(deletor.run(end.signal));
  const finish = async (): Promise<readonly GcEvent[]> => {
    end.abort();
    const [noticed, removed] = await clock.run(Promise.all([noticing, removing]));
    return [...noticed.events, ...removed.events];
  };
  return { clock, runtime, finish };
}

function collected(events: readonly GcEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === 'collected' ? [event.subject.id] : []));
}

test('right after a death all but the newest dead instance of the container go', async (t) => {
  const { clock, runtime, finish } = scene();
  runtime.containers = [instance(1, 'exited'), instance(2, 'running')];
  await clock.pass(1_500);
  runtime.containers = [instance(1, 'exited'), instance(2, 'exited')];
  await clock.pass(1_000);
  t.deepEqual(
    runtime.containers.map((each) => each.id),
    ['app-2'],
  );
  t.deepEqual(collected(await finish()), ['app-1']);
});

test('of a pod whose content may go nothing stays', async (t) => {
  const { clock, runtime, finish } = scene(() => true);
  runtime.containers = [instance(1, 'exited'), instance(2, 'exited')];
  await clock.pass(1_500);
  t.deepEqual(collected(await finish()), ['app-2', 'app-1']);
});

test('a runtime that is away is told once, and what died meanwhile is cleaned up when it is back', async (t) => {
  const { clock, runtime, finish } = scene();
  runtime.containers = [instance(1, 'running')];
  await clock.pass(500);
  runtime.failingLists = ['ListContainers'];
  await clock.pass(5_000);
  runtime.failingLists = [];
  runtime.containers = [instance(1, 'exited'), instance(2, 'exited')];
  await clock.pass(2_000);
  const events = await finish();
  t.deepEqual(collected(events), ['app-1']);
  t.is(events.filter((event) => event.kind === 'gc-step-failed').length, 1);
});

test('a removal that fails is told and not tried again by the deletor', async (t) => {
  const { clock, runtime, finish } = scene(() => true);
  runtime.containers = [instance(1, 'exited')];
  runtime.removeContainer = async () => {
    throw refusal('RemoveContainer');
  };
  await clock.pass(10_000);
  const events = await finish();
  t.deepEqual(
    events.map((event) => event.kind),
    ['not-collected'],
  );
});

test('a death that the runtime tells of is cleaned up within a second, where lists are ten seconds apart', async (t) => {
  const hints = new DeathHints();
  const { clock, runtime, finish } = scene(() => false, hints);
  runtime.containers = [instance(1, 'exited'), instance(2, 'running')];
  await clock.pass(11_000);
  runtime.containers = [instance(1, 'exited'), instance(2, 'exited')];
  hints.give('app-2');
  await clock.pass(1_000);
  t.deepEqual(collected(await finish()), ['app-1']);
});

test('without a hint it is found by the next list', async (t) => {
  const { clock, runtime, finish } = scene(() => false, new DeathHints());
  runtime.containers = [instance(1, 'exited'), instance(2, 'running')];
  await clock.pass(11_000);
  runtime.containers = [instance(1, 'exited'), instance(2, 'exited')];
  await clock.pass(8_000);
  t.is(runtime.containers.length, 2);
  await clock.pass(1_000);
  t.deepEqual(collected(await finish()), ['app-1']);
});

test('a hint about a container that no list has shown changes nothing, and keeps no list from coming', async (t) => {
  const hints = new DeathHints();
  const { clock, runtime, finish } = scene(() => false, hints);
  runtime.containers = [instance(1, 'running')];
  await clock.pass(11_000);
  hints.give('somebody');
  await clock.pass(3_000);
  runtime.containers = [instance(1, 'exited'), instance(2, 'exited')];
  await clock.pass(7_000);
  t.deepEqual(collected(await finish()), ['app-1']);
});
