import test from 'ava';
import fc from 'fast-check';
import { forecast, type Sample, withSample } from '../../src/eviction/time-to-full.js';
import { at } from '../fakes/builders.js';

const MI = 2 ** 20;

/** The history of looks `every` seconds over `span` seconds, of what was available then. */
function watched(span: number, every: number, available: (second: number) => number): readonly Sample[] {
  let history: readonly Sample[] = [];
  for (let look = 0; look * every <= span; look += 1) {
    const second = look * every;
    history = withSample(history, { at: at(second), available: available(second) });
  }
  return history;
}

const seconds = (history: readonly Sample[]) => {
  const found = forecast(history);
  return found === null ? null : Math.round(found.timeToFull / 1_000);
};

test('a steady fill is foretold by its own rate', (t) => {
  const found = forecast(watched(600, 10, (second) => 10_000 * MI - second * 4 * MI));
  t.is(found?.rate, 4 * MI);
  t.is(Math.round((found?.timeToFull ?? 0) / 1_000), 1_900);
});

test('a fast writer is foretold after a few seconds of it', (t) => {
  const history = watched(605, 0.5, (second) => (second < 600 ? 2_000 * MI : 2_000 * MI - (second - 600) * 100 * MI));
  t.is(seconds(history), 15);
});

test('nothing is foretold further ahead than ten times what was watched', (t) => {
  t.is(seconds(watched(100, 10, () => 0).map((each) => ({ ...each, available: 1_000 - each.at / 1_000 }))), 900);
  t.is(seconds(watched(100, 10, () => 0).map((each) => ({ ...each, available: 1_200 - each.at / 1_000 }))), null);
});

test('a disk that does not change, or empties, is not foretold', (t) => {
  t.is(seconds(watched(600, 10, () => 500)), null);
  t.is(seconds(watched(600, 10, (second) => 500 + second)), null);
});

test('one large file is no trend', (t) => {
  for (const when of [30, 200, 300, 400, 570, 595]) {
    t.is(seconds(watched(600, 10, (second) => (second < when ? 1_000 * MI : 300 * MI))), null, `written at ${when} s`);
  }
});

test('a burst that is over says nothing', (t) => {
  const burst = (second: number) => 1_000 * MI - Math.min(20, Math.max(0, second - 300)) * 30 * MI;
  t.is(seconds(watched(420, 1, burst)), null);
});

test('the teeth of a saw say nothing while the disk is far from full', (t) => {
  t.is(seconds(watched(3_600, 10, (second) => 10_000 * MI - (second % 300) * 4 * MI)), null);
});

test('fewer than four looks say nothing', (t) => {
  t.is(seconds(watched(20, 10, (second) => 100 - second)), null);
  t.is(seconds(watched(30, 10, (second) => 100 - second)), 70);
});

test('a clock that went backwards starts the history anew', (t) => {
  const history = watched(100, 10, (second) => 1_000 - second);
  t.deepEqual(withSample(history, { at: at(50), available: 7 }), [{ at: at(50), available: 7 }]);
});

test('the history stays short at ten looks a second, and reaches an hour back', (t) => {
  const history = watched(7_200, 0.1, () => 1);
  t.true(history.length < 400, `${history.length} samples`);
  const [oldest] = history;
  t.true((oldest?.at ?? 0) >= 3_600_000 && (oldest?.at ?? 0) < 4_500_000, `oldest at ${oldest?.at}`);
});

test('any history: a forecast has a positive rate, and is within its horizon', (t) => {
  const looks = fc.array(fc.record({ pause: fc.integer({ min: 1, max: 60_000 }), available: fc.nat(10_000_000) }));
  fc.assert(
    fc.property(looks, (steps) => {
      let history: readonly Sample[] = [];
      let now = 0;
      for (const { pause, available } of steps) {
        now += pause;
        history = withSample(history, { at: at(now / 1_000), available });
      }
      const found = forecast(history);
      if (found === null) return;
      t.true(found.rate > 0);
      t.true(found.timeToFull <= found.watched * 10);
      t.is(Math.round(found.timeToFull), Math.round(((history.at(-1)?.available ?? 0) / found.rate) * 1_000));
    }),
  );
});
