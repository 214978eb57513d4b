import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { watchRuntime } from '../../src/manager/watch-runtime.js';
import type { RuntimeEvent } from '../../src/ports/runtime.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { emptyWorld } from '../fakes/scenery.js';

/** A watch over a runtime, with the times of its lists in seconds since the start. */
function watching(
  open: boolean,
  more: { readonly usesEvents?: boolean; readonly heard?: (event: RuntimeEvent) => void } = {},
) {
  const world = emptyWorld();
  const { clock } = world;
  const start = clock.now();
  const runtime = new FakeRuntime(world);
  if (open) runtime.eventSource.open();
  const lists: number[] = [];
  const imageGC = {
    async detectImages(signal: AbortSignal) {
      await runtime.listImages(signal);
      lists.push((clock.now() - start) / 1_000);
      return { users: new Map(), unresolved: [] };
    },
  };
  const events: EvictionEvent[] = [];
  const abort = new AbortController();
  const end = (async () => {
    for await (const event of watchRuntime({ runtime, imageGC, clock, ...more }, abort.signal)) events.push(event);
  })();
  const stop = async () => {
    abort.abort();
    await end;
  };
  return { world, runtime, lists, events, stop, pass: (seconds: number) => clock.pass(seconds * 1_000) };
}

test('without events the runtime is listed every ten seconds, after a pause of one', async (t) => {
  const watch = watching(false);
  await watch.pass(40);
  await watch.stop();
  t.deepEqual(watch.lists, [0, 11, 22, 33]);
  t.is(watch.runtime.eventSource.subscriptions, 1);
});

test('with events it is listed on each, at most once a second, and else every five minutes', async (t) => {
  const watch = watching(true);
  watch.runtime.eventSource.give({ id: '', kind: 'subscribed' });
  await watch.pass(20);
  watch.runtime.eventSource.give({ id: 'c', kind: 'created' });
  watch.runtime.eventSource.give({ id: 'c', kind: 'started' });
  await watch.pass(0.5);
  watch.runtime.eventSource.give({ id: 'c', kind: 'stopped' });
  await watch.pass(310);
  await watch.stop();
  t.deepEqual(watch.lists, [0, 20, 21, 322]);
  t.is(watch.runtime.eventSource.subscriptions, 1);
});

test('a stream of events that breaks is subscribed to anew, after a list at once', async (t) => {
  const watch = watching(true);
  watch.runtime.eventSource.give({ id: '', kind: 'subscribed' });
  await watch.pass(5);
  watch.runtime.eventSource.breakOff(new Error('connection dropped'));
  await watch.pass(5);
  await watch.stop();
  t.deepEqual(watch.lists, [0, 5]);
  t.is(watch.runtime.eventSource.subscriptions, 2);
});

test('a stream that ends quietly leaves the timer', async (t) => {
  const watch = watching(true);
  watch.runtime.eventSource.give({ id: '', kind: 'subscribed' });
  watch.runtime.eventSource.end();
  await watch.pass(12);
  await watch.stop();
  t.deepEqual(watch.lists, [0, 11]);
});

test('a runtime that is lost is told once, asked every second, and told again when it is back', async (t) => {
  const watch = watching(false);
  await watch.pass(5);
  watch.runtime.isDown = true;
  await watch.pass(9);
  t.deepEqual(
    watch.events.map(({ kind }) => kind),
    ['runtime-lost'],
  );
  const asked = watch.runtime.targetsOf('listImages').length;
  t.is(asked, 5);
  watch.runtime.isDown = false;
  await watch.pass(12);
  await watch.stop();
  const [, back] = watch.events;
  t.is(back?.kind, 'runtime-back');
  t.is(watch.runtime.eventSource.subscriptions, 2, 'another runtime may have events');
  t.like(back, { name: 'fake', version: '1.0' });
  t.is(back?.kind === 'runtime-back' ? Number(back.downFor) : null, 4_000);
});

test('the end is no loss: an abort during a list tells nothing', async (t) => {
  const watch = watching(false);
  watch.runtime.latency = { listImages: 500 };
  await watch.pass(11.7);
  watch.runtime.fail('listImages', 'failed');
  const stopped = watch.stop();
  await watch.pass(1);
  await stopped;
  t.deepEqual(watch.events, []);
});

test('where events are not wanted nobody subscribes, not even when the runtime is back, and it is listed instead', async (t) => {
  const watch = watching(true, { usesEvents: false });
  await watch.pass(15);
  watch.runtime.isDown = true;
  await watch.pass(15);
  watch.runtime.isDown = false;
  await watch.pass(15);
  await watch.stop();
  t.is(watch.runtime.eventSource.subscriptions, 0);
  t.deepEqual(
    watch.events.map(({ kind }) => kind),
    ['runtime-lost', 'runtime-back'],
  );
});

test('each event is handed on', async (t) => {
  const heard: RuntimeEvent[] = [];
  const watch = watching(true, { heard: (event) => heard.push(event) });
  watch.runtime.eventSource.give({ id: '', kind: 'subscribed' });
  await watch.pass(1);
  watch.runtime.eventSource.give({ id: 'c', kind: 'stopped' });
  await watch.pass(1);
  await watch.stop();
  t.deepEqual(
    heard.map(({ kind, id }) => `${kind} ${id}`),
    ['subscribed ', 'stopped c'],
  );
});
