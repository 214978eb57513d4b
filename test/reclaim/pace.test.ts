import test from 'ava';
import type { IoPressure } from '../../src/ports/io-pressure.js';
import { Pace, paced } from '../../src/reclaim/pace.js';
import { milliseconds } from '../../src/units/units.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const facts = (full: number | null, latencyMs: number | null = 10, isUrgent = false) => ({
  pressure: full === null ? null : { some: full, full },
  latency: latencyMs === null ? null : milliseconds(latencyMs),
  isUrgent,
});

for (const [title, given, concurrency, pauseMs] of [
  ['a calm node has as many at a time as the policy says', facts(0), 4, 0],
  ['where the kernel tells no pressure nothing is slowed down', facts(null), 4, 0],
  ['just below a fifth of the time lost', facts(19.9), 4, 0],
  ['a fifth of the time lost: half as many', facts(20), 2, 0],
  ['two fifths lost: one at a time, in turns with everybody else', facts(40), 1, 10],
  ['the turns are bounded', facts(100, 20_000), 1, 1_000],
  ['before the first removal there is nobody to take turns with', facts(100, null), 1, 0],
  ['when the disk is nearly full its pressure does not count', facts(100, 10, true), 4, 0],
  ['a slow runtime: half as many', facts(0, 1_000), 2, 0],
  ['a very slow runtime: one at a time, urgent or not', facts(0, 5_000, true), 1, 0],
] as const) {
  test(title, (t) => {
    t.deepEqual(paced(4, given), { concurrency, pause: milliseconds(pauseMs) });
  });
}

test('of an odd number the half is rounded up, and one is the least', (t) => {
  t.is(paced(3, facts(20)).concurrency, 2);
  t.is(paced(1, facts(20)).concurrency, 1);
});

test('the pressure is read at most once a second, and latency is that of the last batch', async (t) => {
  const clock = new VirtualClock();
  let reads = 0;
  let full = 0;
  const read = (): Promise<IoPressure> => {
    reads += 1;
    return Promise.resolve({ some: full, full });
  };
  const pace = new Pace({ read }, clock);
  t.is((await pace.next(4, false)).concurrency, 4);
  full = 50;
  t.is((await pace.next(4, false)).concurrency, 4);
  t.is(reads, 1);
  clock.skip(1_000);
  t.is((await pace.next(4, false)).concurrency, 1);
  t.is(reads, 2);
  pace.took([milliseconds(6_000), milliseconds(5_000)]);
  t.is((await pace.next(4, true)).concurrency, 1);
  pace.took([]);
  t.is((await pace.next(4, true)).concurrency, 1);
  pace.took([milliseconds(10)]);
  t.is((await pace.next(4, true)).concurrency, 4);
});
