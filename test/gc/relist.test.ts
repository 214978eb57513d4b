import test from 'ava';
import { isRelistHealthy, nothingRelisted } from '../../src/gc/relist.js';
import { instant, milliseconds } from '../../src/units/units.js';

test('before the first list nothing runs, and relisting is not healthy', (t) => {
  const state = nothingRelisted();
  t.is(state.runningPods, 0);
  t.deepEqual(state.containersByState, {});
  t.false(isRelistHealthy(state, instant(0), milliseconds(100)));
});

test('relisting is healthy while the last list is no older than the threshold', (t) => {
  const state = { ...nothingRelisted(), lastRelist: instant(1_000) };
  t.true(isRelistHealthy(state, instant(1_100), milliseconds(100)));
  t.false(isRelistHealthy(state, instant(1_101), milliseconds(100)));
});
