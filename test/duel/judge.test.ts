import test from 'ava';
import { crossingOf, type Deed, type Evidence, judge } from './judge.js';
import type { Sample } from './sampler.js';

const LINE = 300;
const IMAGE = 20;

/** A look every 20 ms from time 0 on. */
function looks(...available: readonly number[]): readonly Sample[] {
  return available.map((value, index) => ({ at: index * 20, available: value }));
}

function evidence(samples: readonly Sample[], rest: Partial<Evidence> = {}): Evidence {
  return {
    samples,
    begunAt: 0,
    line: LINE,
    target: LINE,
    full: 0,
    deeds: [],
    imageSize: IMAGE,
    imagesDeleted: 0,
    evictionsNeeded: 0,
    writer: 'writer',
    podsEnded: [],
    ...rest,
  };
}

function eviction(pod: string, at: number): Deed {
  return { kind: 'eviction', what: pod, from: at, to: at };
}

function removal(what: string, from: number, to: number): Deed {
  return { kind: 'removal', what, from, to };
}

test('the crossing lies between two looks, in proportion', (t) => {
  t.is(crossingOf(looks(320, 310, 290), LINE, 0), 30);
});

test('what was below the line before the run began is no crossing', (t) => {
  t.is(crossingOf(looks(290, 310, 305, 295), LINE, 30), 50);
});

test('a run whose line is never crossed cannot be judged', (t) => {
  t.is(judge(evidence(looks(320, 310, 300))), null);
});

test('times count from the crossing, and a removal from its call', (t) => {
  const verdict = judge(
    evidence(looks(310, 290, 280, 310, 310), { deeds: [removal('image', 40, 60)], imagesDeleted: 1 }),
  );
  t.is(verdict?.firstAction, 0.03);
  t.is(verdict?.firstKind, 'removal');
  t.is(verdict?.relief, 0.05);
  t.is(verdict?.aboveForGood, 0.05);
  t.true(verdict?.recovered);
});

test('the first relief is not the last one when the line is crossed again', (t) => {
  const verdict = judge(evidence(looks(310, 290, 310, 290, 310)));
  t.is(verdict?.relief, 0.03);
  t.is(verdict?.aboveForGood, 0.07);
});

test('a minimum reclaim must be measured for a relief', (t) => {
  const verdict = judge(evidence(looks(310, 290, 310, 330), { target: 320 }));
  t.is(verdict?.relief, 0.05);
  t.is(verdict?.aboveForGood, 0.03);
});

test('a disk that ends below its line has not recovered', (t) => {
  const verdict = judge(evidence(looks(310, 290, 310, 290)));
  t.false(verdict?.recovered);
  t.is(verdict?.aboveForGood, null);
});

test('each look at a full disk stands for the time until the next one', (t) => {
  t.is(judge(evidence(looks(310, 0, 0, 310, 0, 310)))?.secondsFull, 0.06);
});

test('the filesystem tells what full is', (t) => {
  t.is(judge(evidence(looks(310, 5, 310), { full: 5 }))?.secondsFull, 0.02);
});

for (const [end, deleted, needed, why] of [
  [305, 1, 1, 'without the one the disk would be below its line'],
  [325, 2, 1, 'without one of the two it would be above'],
  [700, 30, 10, 'of thirty, twenty images came on top'],
  [290, 3, 3, 'below the line at the end, all were needed'],
  [700, 1, 0, 'it would have been above without any'],
] as const) {
  test(`of ${deleted} images deleted ${needed} were needed at ${end} of ${LINE}: ${why}`, (t) => {
    t.is(judge(evidence(looks(310, 290, end), { imagesDeleted: deleted }))?.imagesNeeded, needed);
  });
}

test('where a pod has to go, images were needed that kept the disk from being full before its end', (t) => {
  const deeds = [removal('image', 30, 40), removal('image', 40, 60), eviction('writer', 60)];
  const run = (lowest: number) =>
    judge(evidence(looks(310, 290, 45, lowest, 600), { deeds, evictionsNeeded: 1, imagesDeleted: 2 }))?.imagesNeeded;
  t.is(run(45), 0);
  t.is(run(30), 1);
  t.is(run(5), 2);
});

test('an eviction where garbage suffices is needless, of the writer too', (t) => {
  const verdict = judge(evidence(looks(310, 290, 310), { deeds: [eviction('writer', 30)], podsEnded: ['writer'] }));
  t.deepEqual(verdict?.evicted, ['writer']);
  t.deepEqual(verdict?.innocents, []);
  t.is(verdict?.needlessEvictions, 1);
});

test('whoever is not the writer is innocent, and one eviction too many is needless', (t) => {
  const deeds = [eviction('big', 30), eviction('writer', 40)];
  const verdict = judge(evidence(looks(310, 290, 310), { deeds, evictionsNeeded: 1, podsEnded: ['big', 'writer'] }));
  t.deepEqual(verdict?.innocents, ['big']);
  t.is(verdict?.needlessEvictions, 1);
});

test('a pod that ended without a word of the log was ended all the same', (t) => {
  const verdict = judge(
    evidence(looks(310, 290, 310), { deeds: [eviction('writer', 30)], evictionsNeeded: 1, podsEnded: ['small'] }),
  );
  t.deepEqual(verdict?.evicted, ['writer', 'small']);
  t.deepEqual(verdict?.innocents, ['small']);
});

test('a decision that ended nobody is an eviction: the pod was told to end', (t) => {
  t.deepEqual(judge(evidence(looks(310, 290), { deeds: [eviction('big', 30)] }))?.innocents, ['big']);
});
