import test from 'ava';
import type { WriteCount } from '../../src/ports/write-counts.js';
import { createWriteSampler } from '../../src/reclaim/write-sampler.js';
import { milliseconds } from '../../src/units/units.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const never = new AbortController().signal;

/** A container `web` whose counts are a function of the seconds that went by; each reading takes `cost` ms. */
function scene(countAt: (seconds: number) => WriteCount | null, cost = 0) {
  const clock = new VirtualClock(0);
  let reads = 0;
  const counts = {
    read: async () => {
      reads += 1;
      if (cost > 0) await clock.sleep(milliseconds(cost));
      const count = countAt(clock.now() / 1_000);
      return { at: clock.now(), counts: new Map(count === null ? [] : [['web', count] as const]) };
    },
  };
  const sampler = createWriteSampler(counts, clock);
  const rate = async () => (await clock.run(sampler.rates(never))).get('web');
  return { clock, sampler, rate, reads: () => reads };
}

const processes = (count: number): WriteCount => ({ processes: count, cgroup: null });

test('with a sample at hand the rate is known at once', async (t) => {
  const { clock, sampler, rate } = scene((seconds) => processes(9_000 * seconds));
  sampler.sample(never);
  await clock.pass(500);
  t.deepEqual((await rate()) as unknown, { perSecond: 9_000, by: 'processes', over: 500, at: 500 });
  t.is(Number(clock.now()), 500);
});

test('without one it takes a fifth of a second', async (t) => {
  const { clock, rate } = scene((seconds) => processes(9_000 * seconds));
  t.is((await rate())?.perSecond, 9_000);
  t.is(Number(clock.now()), 200);
});

test('a sample that is too young is waited for, one that is too old is none', async (t) => {
  const young = scene((seconds) => processes(9_000 * seconds));
  young.sampler.sample(never);
  await young.clock.pass(150);
  t.like(await young.rate(), { over: milliseconds(200) });
  const old = scene((seconds) => processes(seconds > 3 ? 9_000 * (seconds - 3) : 0));
  old.sampler.sample(never);
  await old.clock.pass(4_000);
  t.like(await old.rate(), { over: milliseconds(200) });
});

test('the faster of two counts holds: each misses something', async (t) => {
  const { rate } = scene((seconds) => ({ processes: 10 * seconds, cgroup: 70 * seconds }));
  t.like(await rate(), { perSecond: 70, by: 'cgroup' });
});

test('a count that has shrunk tells nothing, nor does one that appears', async (t) => {
  const shrinks = scene((seconds) => processes(1_000 - 100 * seconds));
  t.is(await shrinks.rate(), undefined);
  const appears = scene((seconds) => (seconds < 0.1 ? null : processes(5)));
  t.is(await appears.rate(), undefined);
});

test('samples are taken a fifth of a second apart, and so that they take a tenth of the time at most', async (t) => {
  const cheap = scene(() => processes(0));
  for (let tick = 0; tick < 20; tick += 1) {
    cheap.sampler.sample(never);
    await cheap.clock.pass(50);
  }
  t.is(cheap.reads(), 5);
  const dear = scene(() => processes(0), 40);
  for (let tick = 0; tick < 40; tick += 1) {
    dear.sampler.sample(never);
    await dear.clock.pass(50);
  }
  t.is(dear.reads(), 5);
});

test('that counts cannot be read is told to who asks, and to nobody who only gets ready', async (t) => {
  const clock = new VirtualClock(0);
  const sampler = createWriteSampler({ read: () => Promise.reject(new Error('EIO')) }, clock);
  sampler.sample(never);
  await clock.pass(10);
  await t.throwsAsync(sampler.rates(never), { message: 'EIO' });
});
