import test from 'ava';
import { RuntimeError, type RuntimeErrorKind } from '../../src/ports/runtime.js';
import { BackOff } from '../../src/reclaim/back-off.js';
import { at } from '../fakes/builders.js';

const refusal = (kind: RuntimeErrorKind = 'failed') => new RuntimeError('device busy', { kind, call: 'RemoveImage' });

/** A back-off at a time that the test sets, in seconds. */
function scene() {
  const time = { seconds: 0 };
  const backOff = new BackOff({ now: () => at(time.seconds) });
  return { time, backOff, rests: (id = 'a') => backOff.reason(id) !== null };
}

test('an id rests for two minutes, then four, and so on up to an hour', (t) => {
  const { time, backOff, rests } = scene();
  for (const minutes of [2, 4, 8, 16, 32, 60, 60]) {
    backOff.failed('a', refusal());
    time.seconds += minutes * 60 - 1;
    t.true(rests(), `just before ${minutes} min`);
    time.seconds += 1;
    t.false(rests(), `after ${minutes} min`);
  }
});

test('a success clears it, and the next failure counts as the first', (t) => {
  const { time, backOff, rests } = scene();
  backOff.failed('a', refusal());
  backOff.failed('a', refusal());
  backOff.succeeded('a');
  t.false(rests());
  backOff.failed('a', refusal());
  time.seconds += 120;
  t.false(rests());
});

test('the reason says how often, when it is tried again, and the words of the failure', (t) => {
  const { time, backOff } = scene();
  backOff.failed('a', refusal());
  time.seconds += 20;
  t.is(backOff.reason('a'), 'could not be removed 1 time, tried again in 100 s: device busy');
  t.is(backOff.reason('b'), null);
});

for (const kind of ['no-space', 'unavailable', 'deadline', 'cancelled', 'busy'] as const) {
  test(`${kind} says nothing about the object: it is tried again at once`, (t) => {
    const { backOff, rests } = scene();
    backOff.failed('a', refusal(kind));
    t.false(rests());
  });
}

test('what was not a failure of the runtime says nothing either', (t) => {
  const { backOff, rests } = scene();
  backOff.failed('a', new Error('a fault of ours'));
  t.false(rests());
});
