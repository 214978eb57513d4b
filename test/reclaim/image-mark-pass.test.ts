import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import { availableIn, type MarkSpace, markPass, marksOf } from '../../src/reclaim/image-mark-pass.js';
import { Notices } from '../../src/reclaim/notices.js';
import { bytes, count } from '../../src/units/units.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const RULES = { highPercent: 85, lowPercent: 80 };
const space = (available: number, inodesFree: number | null = null): MarkSpace => ({
  available: bytes(available),
  capacity: bytes(1_000),
  inodeCounts: inodesFree === null ? null : { free: count(inodesFree), total: count(100) },
});

/** Runs over images that free so many bytes each; answers with what went, and the codes that were said. */
async function run(begin: number, frees: readonly (number | Error)[], maxRemovals: number | null = null) {
  let available = begin;
  const gone: number[] = [];
  const clock = new VirtualClock();
  const marks = marksOf(space(begin), RULES);
  const pass = markPass({
    candidates: frees.map((freed, index) => ({ freed, index })),
    marks,
    clock,
    deps: { notices: new Notices(clock), maxRemovals, imageDisk: () => 'nodefs' },
    available: availableIn(space(begin)),
    removalsBefore: 0,
    images: frees.length,
    inUse: 0,
    space: async () => space(available),
    async *remove({ freed, index }): AsyncGenerator<GcEvent, 'removed' | Error> {
      if (freed instanceof Error) return freed;
      gone.push(index);
      available += freed;
      return 'removed';
    },
  });
  const said: GcEvent[] = [];
  for (;;) {
    const next = await pass.next();
    if (next.done === true) return { gone, said: said.flatMap((each) => ('warning' in each ? [each.warning] : [])) };
    said.push(next.value);
  }
}

test('the high mark is reached with free percent rounded down, and there is nothing to do above it', (t) => {
  t.is(marksOf(space(160), RULES).length, 0);
  t.like(marksOf(space(159), RULES), [{ unit: 'bytes', target: 200, before: 159 }]);
});

test('inodes at their mark are freed as bytes are, and both until both low marks', (t) => {
  const units = (each: MarkSpace) => marksOf(each, RULES).map(({ unit }) => unit);
  t.deepEqual(units(space(500, 10)), ['inodes']);
  t.deepEqual(units(space(190, 10)), ['bytes', 'inodes']);
  t.deepEqual(units(space(500, 50)), []);
});

test('images go one by one until the low mark is measured', async (t) => {
  t.deepEqual(await run(150, [30, 30, 30]), { gone: [0, 1], said: [] });
});

test('a failure ends nothing, and too little is said with what was wanted and got', async (t) => {
  const { gone, said } = await run(150, [30, new Error('busy'), 10]);
  t.deepEqual(gone, [0, 2]);
  t.like(said[0], { code: 'IMAGE_GC_INSUFFICIENT', wanted: 50, freed: 40 });
});

test('five removals without any gain end the run, and that is said', async (t) => {
  const { gone, said } = await run(150, [0, 0, 0, 0, 0, 0]);
  t.is(gone.length, 5);
  t.is(said[0]?.code, 'REMOVALS_DO_NOT_HELP');
});

test('no more go than one run may remove', async (t) => {
  t.deepEqual((await run(150, [1, 1, 1], 2)).gone, [0, 1]);
});
