import test from 'ava';
import type { ImageTimes } from '../../src/gc/image-collection.js';
import type { PlannedImage } from '../../src/gc/inventory.js';
import { forbiddance, type ImagePlanInput, planImages } from '../../src/gc/plan-images.js';
import { milliseconds } from '../../src/units/units.js';
import { at, image } from '../fakes/builders.js';

/** `[id, first seen, last used]` in seconds; null = never used. */
type Row = readonly [id: string, firstSeen: number, lastUsed: number | null];

function input(rows: readonly Row[], changes: Partial<ImagePlanInput> = {}): ImagePlanInput {
  return {
    images: rows.map(([id]) => image(id)),
    use: { users: new Map(), unresolved: [] },
    protectedBy: () => null,
    history: new Map<string, ImageTimes>(
      rows.map(([id, firstSeen, lastUsed]) => [
        id,
        { firstDetected: at(firstSeen), lastUsed: lastUsed === null ? null : at(lastUsed) },
      ]),
    ),
    minAge: milliseconds(120_000),
    youngLast: false,
    now: at(1_000),
    ...changes,
  };
}

function verdicts(given: ImagePlanInput): readonly (readonly [string, string])[] {
  return planImages(given).map(({ item, verdict }) => [item.id, `${verdict.kind}: ${verdict.why}`]);
}

const order = test.macro((t, rows: readonly Row[], expected: readonly string[]) => {
  t.deepEqual(
    planImages(input(rows)).map(({ item }) => item.id),
    expected,
  );
});

test(
  'the least recently used goes first',
  order,
  [
    ['new', 0, 500],
    ['old', 0, 100],
    ['middle', 0, 300],
  ],
  ['old', 'middle', 'new'],
);
test(
  'one that was never used goes before all that were',
  order,
  [
    ['used', 0, 100],
    ['never', 50, null],
  ],
  ['never', 'used'],
);
test(
  'equal last uses are ordered by first sight, then by id',
  order,
  [
    ['c', 20, 100],
    ['b', 10, 100],
    ['a', 20, 100],
    ['d', 10, null],
    ['e', 5, null],
  ],
  ['e', 'd', 'b', 'a', 'c'],
);

test('each verdict carries its reason, and those that stay come last', (t) => {
  const given = input([
    ['used', 0, 400],
    ['mounted', 0, 400],
    ['pinned', 0, 400],
    ['precious', 0, 400],
    ['young', 990, null],
    ['never', 0, null],
  ]);
  t.deepEqual(
    verdicts({
      ...given,
      images: given.images.map((each) => (each.id === 'pinned' ? { ...each, pinned: true } : each)),
      use: { users: new Map([['mounted', 'mounted by container c']]), unresolved: [] },
      protectedBy: ({ id }) => (id === 'precious' ? 'prec*' : null),
    }),
    [
      ['never', 'goes: unused since first seen 1000 s ago'],
      ['used', 'goes: last used 600 s ago'],
      ['mounted', 'stays: mounted by container c'],
      ['pinned', 'stays: pinned by the runtime'],
      ['precious', 'stays: protected by prec*'],
      ['young', 'stays: below the minimum age of 120 s'],
    ],
  );
});

test('under hard pressure young images go, after all others', (t) => {
  const rows: readonly Row[] = [
    ['young', 990, null],
    ['younger', 995, 999],
    ['old', 0, 999],
  ];
  t.deepEqual(verdicts(input(rows, { youngLast: true })), [
    ['old', 'goes: last used 1 s ago'],
    ['young', 'goes: unused since first seen 10 s ago; below the minimum age, so last'],
    ['younger', 'goes: last used 1 s ago; below the minimum age, so last'],
  ]);
});

test('an age of exactly the minimum is old enough', (t) => {
  t.deepEqual(verdicts(input([['a', 880, null]])), [['a', 'goes: unused since first seen 120 s ago']]);
  t.deepEqual(verdicts(input([['a', 881, null]])), [['a', 'stays: below the minimum age of 120 s']]);
});

test('an image that nobody recorded was seen just now', (t) => {
  const given = input([], { images: [image('b'), image('a')] });
  t.deepEqual(verdicts(given), [
    ['b', 'stays: below the minimum age of 120 s'],
    ['a', 'stays: below the minimum age of 120 s'],
  ]);
  t.is(verdicts({ ...given, minAge: milliseconds(1) })[0]?.[1], 'stays: below the minimum age of 0.001 s');
  t.deepEqual(verdicts({ ...given, minAge: milliseconds(0) }), [
    ['a', 'goes: unused, seen just now'],
    ['b', 'goes: unused, seen just now'],
  ]);
});

test('an image from the future is young unless there is no minimum age', (t) => {
  t.deepEqual(verdicts(input([['a', 2_000, null]])), [['a', 'stays: below the minimum age of 120 s']]);
});

test('what forbids a removal does so whatever the age; a use is named before a pin', (t) => {
  const pinned: PlannedImage = image('a', { pinned: true });
  const use = { users: new Map([['a', 'used by container c']]), unresolved: [] };
  const nobody = { users: new Map<string, string>(), unresolved: [] };
  t.is(
    forbiddance(pinned, use, () => '*'),
    'used by container c',
  );
  t.is(
    forbiddance(pinned, nobody, () => '*'),
    'pinned by the runtime',
  );
  t.is(
    forbiddance(image('a'), nobody, () => '*'),
    'protected by *',
  );
  t.is(
    forbiddance(image('a'), nobody, () => null),
    null,
  );
});
