import test from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { Lanes } from '../../../src/adapters/host/lanes.js';
import { milliseconds } from '../../../src/units/units.js';

/** A job that ends when it is told to. */
function pending(): { readonly job: () => Promise<string>; end(): void; started(): number } {
  let started = 0;
  let end: (value: string) => void = () => undefined;
  const result = new Promise<string>((resolve) => {
    end = resolve;
  });
  return {
    job: () => {
      started += 1;
      return result;
    },
    end: () => end('late'),
    started: () => started,
  };
}

test('a lane that is blocked is not entered again, and lets everybody through when it is free', async (t) => {
  const lanes = new Lanes(systemClock(), milliseconds(20));
  const dead = pending();
  const first = await lanes.pass('a', 'here', dead.job);
  const second = await lanes.pass('a', 'here', dead.job);
  t.is(first.kind, 'stuck');
  t.deepEqual(second, first, 'since the same instant');
  t.is(dead.started(), 1);
  t.is(lanes.stuck('here'), 1);
  t.deepEqual(await lanes.pass('b', 'here', async () => 1), { kind: 'done', result: 1 }, 'other lanes are free');
  dead.end();
  await new Promise(setImmediate);
  t.deepEqual(await lanes.pass('a', 'here', async () => 2), { kind: 'done', result: 2 });
  t.is(lanes.stuck('here'), 0);
});

test('jobs of one lane follow each other', async (t) => {
  const lanes = new Lanes(systemClock(), milliseconds(10_000));
  let inside = 0;
  let most = 0;
  const job = async () => {
    most = Math.max(most, ++inside);
    await new Promise(setImmediate);
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => lanes.pass('a', 'here', job)));
  t.is(most, 1);
});
