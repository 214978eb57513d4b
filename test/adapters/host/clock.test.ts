import { getEventListeners } from 'node:events';
import test from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { milliseconds } from '../../../src/units/units.js';

test('steady time begins at the wall clock and never goes back', (t) => {
  const clock = systemClock();
  t.true(Math.abs(clock.now() - clock.wall()) < 100);
  const instants = Array.from({ length: 1_000 }, () => clock.now());
  t.deepEqual(
    instants,
    instants.toSorted((one, other) => one - other),
  );
});

test('sleep lasts at least as long as it was asked to', async (t) => {
  const clock = systemClock();
  const before = clock.now();
  await clock.sleep(milliseconds(15.5));
  t.true(clock.now() - before >= 15.5);
});

test('sleep ends at once on abort, before or during, and leaves no listener', async (t) => {
  const clock = systemClock();
  await clock.sleep(milliseconds(1e15), AbortSignal.abort());
  const controller = new AbortController();
  const sleeping = clock.sleep(milliseconds(1e15), controller.signal);
  t.is(getEventListeners(controller.signal, 'abort').length, 1);
  controller.abort();
  await sleeping;
  t.is(getEventListeners(controller.signal, 'abort').length, 0);
});

test('a sleep that was slept out leaves no listener either', async (t) => {
  const { signal } = new AbortController();
  await systemClock().sleep(milliseconds(0), signal);
  await systemClock().sleep(milliseconds(1), signal);
  t.is(getEventListeners(signal, 'abort').length, 0);
});
