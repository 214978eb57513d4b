import test from 'ava';
import { Arrivals } from '../../src/reclaim/arrivals.js';
import { instant } from '../../src/units/units.js';

test('an arrival by the wall clock is as long ago by the steady one; one from the future is now', (t) => {
  // The wall clock was put ahead by an hour since the start.
  const arrivals = new Arrivals({ now: () => instant(10_000), wall: () => instant(3_610_000) });
  arrivals.learn(
    new Map([
      ['a', instant(3_607_000)],
      ['b', instant(9_999_999)],
    ]),
  );
  t.deepEqual(arrivals.earlier('a'), { firstDetected: instant(7_000), lastUsed: null });
  t.deepEqual(arrivals.earlier('b'), { firstDetected: instant(10_000), lastUsed: null });
  t.is(arrivals.earlier('c'), undefined);
});
