import test from 'ava';
import fc from 'fast-check';
import { type BootTime, type ClockReading, frameAt, fromWall, savedAt, toWall } from '../../src/eviction/wall-time.js';
import { instant, milliseconds } from '../../src/units/units.js';

const YEAR = 365 * 86_400_000;
const long = fc.integer({ min: 0, max: 10 * YEAR });
const jump = fc.integer({ min: -60 * YEAR, max: 60 * YEAR });
const steady = fc.integer({ min: 0, max: 2 ** 45 });

function boot(id: string, uptime: number): BootTime {
  return { id, uptime: milliseconds(uptime) };
}

function reading(now: number, wall: number, booted: BootTime | null = null): ClockReading {
  return { now: instant(now), wall: instant(wall), boot: booted };
}

/** How old a time of that age is found by a process that begins `away` later, whose steady clock begins anywhere. */
function ageAfterRestart(age: number, first: ClockReading, second: ClockReading): number {
  const frame = frameAt(first, null);
  const wall = toWall(instant(first.now - age), frame);
  return second.now - fromWall(wall, savedAt(first, frame), second);
}

test('a restart makes every age older by the time between, whatever the steady clocks say', (t) => {
  fc.assert(
    fc.property(long, long, steady, steady, steady, (age, away, now, wall, nextNow) => {
      t.is(ageAfterRestart(age, reading(now, wall), reading(nextNow, wall + away)), age + away);
    }),
  );
});

test('a jump of the wall clock between two processes of one boot changes no age', (t) => {
  fc.assert(
    fc.property(long, long, steady, jump, long, (age, away, now, wallJump, uptime) => {
      const first = reading(now, 3e12, boot('b', uptime));
      const second = reading(7, 3e12 + away + wallJump, boot('b', uptime + away));
      t.is(ageAfterRestart(age, first, second), age + away);
    }),
  );
});

test('a jump of the wall clock while the process runs changes no age once all was saved in the new frame', (t) => {
  fc.assert(
    fc.property(long, steady, jump, (age, now, wallJump) => {
      const before = frameAt(reading(now, 3e12), null);
      const first = reading(now + 10, 3e12 + 10 + wallJump);
      const frame = frameAt(first, before);
      t.is(frame === before, Math.abs(wallJump) <= 1_000);
      const wall = toWall(instant(first.now - age), frame);
      const second = reading(5, first.wall + 2_000);
      const error = second.now - fromWall(wall, savedAt(first, frame), second) - age - 2_000;
      t.true(Math.abs(error) <= 1_000, `${error}`);
    }),
  );
});

test('over a reboot the wall clock counts; put back meanwhile, the time between is unknown and counts as none', (t) => {
  fc.assert(
    fc.property(long, jump, long, long, (age, wallStep, uptime, nextUptime) => {
      const first = reading(1, 3e12, boot('b', uptime));
      const second = reading(2, 3e12 + wallStep, boot('c', nextUptime));
      t.is(ageAfterRestart(age, first, second), age + Math.max(0, wallStep));
    }),
  );
});

test('an uptime that ran backwards within one boot is not believed', (t) => {
  const first = reading(1, 3e12, boot('b', 500));
  t.is(ageAfterRestart(40, first, reading(2, 3e12 + 60, boot('b', 499))), 100);
});

test('a time that lies after its own saving counts from now', (t) => {
  const first = reading(1_000, 3e12);
  const frame = frameAt(first, null);
  const second = reading(50, 3e12 + 9_000);
  t.is(fromWall(instant(3e12 + 1), savedAt(first, frame), second), second.now);
});

test('the wall clock may be put right by a second before anything is saved anew', (t) => {
  const before = frameAt(reading(0, 3e12), null);
  t.is(frameAt(reading(100, 3e12 + 1_100), before), before);
  t.not(frameAt(reading(100, 3e12 + 1_101), before), before);
});
