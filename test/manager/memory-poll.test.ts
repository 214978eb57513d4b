import test from 'ava';
import { pollMemory } from '../../src/manager/memory-poll.js';
import { type Bytes, bytes, milliseconds } from '../../src/units/units.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

/** A watch at 100 over these readings, one each second; null = it cannot be read. Answers with the usages that it told. */
async function told(readings: readonly (number | null)[]): Promise<readonly number[]> {
  const clock = new VirtualClock(0);
  const left = [...readings];
  const memoryUsage = async (): Promise<Bytes> => {
    const next = left.shift();
    if (left.length === 0) watch.stop();
    if (next === null || next === undefined) throw new Error('Cannot read');
    return bytes(next);
  };
  const watch = pollMemory({ nodeStats: { memoryUsage }, clock, every: milliseconds(1_000) })('node', 100);
  const heard: number[] = [];
  await clock.run(
    (async () => {
      for await (const usage of watch.events) heard.push(Number(usage));
    })(),
  );
  return heard;
}

const tells = test.macro(async (t, readings: readonly (number | null)[], expected: readonly number[]) => {
  t.deepEqual(await told(readings), expected);
});

test('a usage that rises above the mark is told once', tells, [90, 110, 120, 130, 0], [110]);
test('each crossing is told, those downwards are not', tells, [90, 110, 90, 101, 0], [110, 101]);
test('exactly the mark is not above it, as a line that is just reached is not missed', tells, [90, 100, 90, 0], []);
test('what is above the mark from the beginning has not crossed it here', tells, [110, 120, 0], []);
test('readings that fail change nothing', tells, [90, null, null, 110, null, 120, 0], [110]);
