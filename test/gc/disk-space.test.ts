import test from 'ava';
import { nextOutOfDisk, type OutOfDisk, reserveFault, roomFor } from '../../src/gc/disk-space.js';
import { instant, milliseconds } from '../../src/units/units.js';

const TRANSITION = milliseconds(100);

const next = test.macro((t, before: OutOfDisk['status'], isOut: boolean, now: number, expected: [string, number]) => {
  const { status, since } = nextOutOfDisk({ status: before, since: instant(1_000) }, isOut, instant(now), TRANSITION);
  t.deepEqual<unknown, unknown>([status, since], expected);
});

test('out of disk is said at once', next, 'false', true, 1_001, ['true', 1_001]);
test('while it lasts, its beginning stays', next, 'true', true, 2_000, ['true', 1_000]);
test('it stays until the last change is a transition period old', next, 'true', false, 1_099, ['true', 1_000]);
test('and ends when it is exactly that old', next, 'true', false, 1_100, ['false', 1_100]);
test('where nothing was known it ends without waiting', next, 'unknown', false, 1_001, ['false', 1_001]);
test('while there is room, the beginning of that stays', next, 'false', false, 2_000, ['false', 1_000]);

const room = test.macro((t, capacity: number, available: number, expected: string) => {
  const answer = roomFor({ capacity, available }, 2);
  t.is<string, string>(answer.kind === 'doubt' ? answer.why : answer.kind, expected);
});

test('exactly the reserve is room enough', room, 10 * 2 ** 20, 2 * 2 ** 20, 'room');
test('one byte less is not', room, 10 * 2 ** 20, 2 * 2 ** 20 - 1, 'no-room');
test('nothing available is an answer', room, 1, 0, 'no-room');
test('a negative amount is none', room, 1, -1, 'available-negative');
test('neither is a capacity of nothing', room, 0, 0, 'capacity-unknown');

test('a reserve may be nothing, and neither of the two may be less', (t) => {
  t.is(reserveFault({ runtimeFreeMegabytes: 0, rootFreeMegabytes: 0 }), null);
  t.regex(reserveFault({ runtimeFreeMegabytes: 0, rootFreeMegabytes: -1 }) ?? '', /-1$/);
  t.regex(reserveFault({ runtimeFreeMegabytes: -2, rootFreeMegabytes: 0 }) ?? '', /-2$/);
});
