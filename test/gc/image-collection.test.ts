import test from 'ava';
import { type ImageCandidate, imageKey, passedOver, spaceDemand, tooOld } from '../../src/gc/image-collection.js';
import { bytes, instant, milliseconds } from '../../src/units/units.js';

function candidate(lastUsed: number | null, firstDetected = 0): ImageCandidate {
  const used = lastUsed === null ? null : instant(lastUsed);
  const record = {
    firstDetected: instant(firstDetected),
    lastUsed: used,
    size: bytes(1),
    pinned: false,
    runtimeHandler: '',
  };
  return { key: 'a', id: 'a', record };
}

const byAge = test.macro((t, lastUsed: number | null, freeTime: number, gcBegan: number, goes: boolean) => {
  const times = { freeTime: instant(freeTime), gcBegan: instant(gcBegan) };
  t.is(tooOld([candidate(lastUsed)], { maxAge: milliseconds(100) }, times).length, goes ? 1 : 0);
});

test('an image last used longer ago than the maximum age goes', byAge, 0, 201, 100, true);
test('one last used exactly so long ago stays', byAge, 101, 201, 100, false);
test('one that was never used goes', byAge, null, 201, 100, true);
test('nothing goes by age until the process has watched for longer than that', byAge, null, 200, 100, false);

test('without a maximum age nothing goes by age', (t) => {
  t.deepEqual(tooOld([candidate(null)], { maxAge: null }, { freeTime: instant(1_000), gcBegan: instant(0) }), []);
});

const neverUsed = test.macro((t, firstDetected: number, goes: boolean) => {
  const rules = { maxAge: milliseconds(100), neverUsedAgesFrom: 'first-seen' } as const;
  const times = { freeTime: instant(1_000), gcBegan: instant(0) };
  t.is(tooOld([candidate(null, firstDetected)], rules, times).length, goes ? 1 : 0);
});

test('where age counts from the first sight, an image that was pulled just now stays', neverUsed, 999, false);
test('and one that nobody used since goes when it is too old', neverUsed, 899, true);

const forSpace = test.macro((t, lastUsed: number | null, firstDetected: number, why: string | null) => {
  t.deepEqual<unknown, unknown>(passedOver(candidate(lastUsed, firstDetected), instant(1_000), milliseconds(100)), why);
});

test('for space an image goes that is exactly old enough', forSpace, null, 900, null);
test('a younger one is passed over', forSpace, null, 901, 'below the minimum age');
test('so is one that was used when the run began', forSpace, 1_000, 0, 'used since the run began');

test('amounts beyond 90 TB keep their last byte', (t) => {
  const capacity = bytes(2 ** 53 - 1);
  const demand = spaceDemand({ available: bytes(0), capacity }, { highPercent: 85, lowPercent: 80 });
  t.deepEqual(demand, { kind: 'free', usagePercent: 100, bytesToFree: Number((BigInt(capacity) * 20n) / 100n) });
});

test('a handler is part of the key only where handlers tell images apart', (t) => {
  t.is(imageKey('a', 'kata', true), 'a,kata');
  t.is(imageKey('a', '', true), 'a');
  t.is(imageKey('a', 'kata', false), 'a');
});
