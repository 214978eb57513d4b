import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import { PortError } from '../../src/ports/port-error.js';
import { AfterCollection, type AfterCollectionDeps } from '../../src/reclaim/after-collection.js';
import { milliseconds } from '../../src/units/units.js';
import { at } from '../fakes/builders.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { emptyWorld, putImage } from '../fakes/scenery.js';

/** A program that takes a second and keeps what it was told. */
function scene(tells: AfterCollectionDeps['tells'], fails = () => false) {
  const world = emptyWorld();
  const { clock } = world;
  const runtime = new FakeRuntime(world);
  const told: unknown[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  const after = new AfterCollection({
    runtime,
    clock,
    words: ['/usr/bin/notify'],
    tells,
    commands: {
      async run(_words, input) {
        atOnce += 1;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        await clock.sleep(milliseconds(1_000));
        atOnce -= 1;
        told.push(JSON.parse(input));
        if (fails()) throw new PortError('Cannot go by a program as it must end with 0');
      },
    },
  });
  const end = new AbortController();
  const events: GcEvent[] = [];
  const running = (async () => {
    for await (const event of after.run(end.signal)) events.push(event);
  })();
  const finish = async () => {
    end.abort();
    await clock.run(running);
    return { events, told, mostAtOnce };
  };
  return { world, clock, runtime, after, finish };
}

test('once nothing more goes the program is told what is left on the node', async (t) => {
  const { world, clock, after, finish } = scene('left-on-node');
  putImage(world, 'left');
  for (const name of ['a', 'b', 'c']) {
    putImage(world, name);
    await clock.pass(2_000);
    world.removeImage(`sha256:${name}`);
    after.collected([], at(1));
  }
  await clock.pass(20_000);
  const { told, events } = await finish();
  t.deepEqual(told, [{ collectedAt: '1970-01-01T00:00:01.000Z', tells: 'left-on-node', images: ['sha256:left'] }]);
  t.deepEqual(
    events.map((event) => event.kind === 'hook-ran' && event.program),
    ['/usr/bin/notify'],
  );
});

test('to the letter it is told what each collection has looked at and kept; those that come while it runs are one', async (t) => {
  const { clock, after, finish } = scene('looked-at-and-kept');
  after.collected(['a'], at(1));
  await clock.pass(500);
  after.collected(['b'], at(2));
  after.collected(['c'], at(3));
  await clock.pass(5_000);
  const { told, mostAtOnce } = await finish();
  t.like(told, [{ images: ['a'] }, { images: ['c'] }]);
  t.is(told.length, 2);
  t.is(mostAtOnce, 1);
});

test('a program that fails is told as such, and the next collection has it run again', async (t) => {
  let isBroken = true;
  const { clock, after, finish } = scene('looked-at-and-kept', () => isBroken);
  after.collected([], at(1));
  await clock.pass(2_000);
  isBroken = false;
  after.collected([], at(2));
  await clock.pass(2_000);
  const { events } = await finish();
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['gc-step-failed', 'hook-ran'],
  );
});

test('where nobody can tell what is left the program is told nothing', async (t) => {
  const { clock, runtime, after, finish } = scene('left-on-node');
  runtime.fail('listImages', 'failed');
  after.collected([], at(1));
  await clock.pass(20_000);
  const { told, events } = await finish();
  t.deepEqual(told, []);
  t.like(events, [{ kind: 'gc-step-failed', step: 'the program after image collection' }]);
});
