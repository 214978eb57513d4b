import test from 'ava';
import { concat, concatMap, delay, EMPTY, from, map, NEVER, type Observable, of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { createPipeline } from '../../src/manager/pipeline.js';
import { at } from '../fakes/builders.js';

const event = (message: string): EvictionEvent => ({ kind: 'pass-failed', at: at(0), message });
const name = (each: EvictionEvent) => (each.kind === 'pass-failed' ? each.message : each.kind);

/** Runs marbles in virtual time; one frame is a millisecond. */
function marbles(t: { deepEqual(a: unknown, b: unknown): unknown }, run: Parameters<TestScheduler['run']>[0]): void {
  new TestScheduler((actual, expected) => {
    t.deepEqual(actual, expected);
  }).run(run);
}

/** A pass that tells `p` and then takes so many frames. An observable stands for the generator: marbles know no promises. */
function passOf(frames: number): () => Observable<EvictionEvent> {
  return () => concat(of(event('p')), frames === 0 ? EMPTY : of(event('e')).pipe(delay(frames)));
}

/** The pipeline takes an async iterable; `from` takes an observable just as well, which is what a marble needs. */
function pipelineOf(facts: {
  readonly pass: () => Observable<EvictionEvent>;
  readonly pause: () => number;
  readonly beside?: readonly Observable<EvictionEvent>[];
}) {
  return createPipeline({
    pass: facts.pass as unknown as () => AsyncIterable<EvictionEvent>,
    pause: facts.pause,
    beside: facts.beside ?? [],
  });
}

test('passes follow each other at the pause that each asks for', (t) => {
  marbles(t, ({ expectObservable }) => {
    const pauses = [3, 5, 2];
    const pipeline = pipelineOf({ pass: passOf(0), pause: () => pauses.shift() ?? 100 });
    expectObservable(pipeline.events$.pipe(map(name)), '^----------!').toBe('p--p----p-p');
  });
});

test('a pass that takes long is not overtaken: the pause begins at its end', (t) => {
  marbles(t, ({ expectObservable }) => {
    const pipeline = pipelineOf({ pass: passOf(6), pause: () => 2 });
    expectObservable(pipeline.events$.pipe(map(name)), '^---------------!').toBe('p-----e-p-----e-');
  });
});

test('a wake ends the pause', (t) => {
  marbles(t, ({ cold, expectObservable }) => {
    const pipeline = pipelineOf({ pass: passOf(0), pause: () => 100 });
    cold('---w|').subscribe({ next: () => pipeline.wake() });
    expectObservable(pipeline.events$.pipe(map(name)), '^---------!').toBe('p--p------');
  });
});

test('wakes during a pass are one pass more, right behind it', (t) => {
  marbles(t, ({ cold, expectObservable }) => {
    const pipeline = pipelineOf({ pass: passOf(5), pause: () => 100 });
    cold('-w-w|').subscribe({ next: () => pipeline.wake() });
    expectObservable(pipeline.events$.pipe(map(name)), '^--------------!').toBe('p----(ep)-e---');
  });
});

test('stop ends the stream, in the middle of a pass too', (t) => {
  marbles(t, ({ cold, expectObservable }) => {
    const pipeline = pipelineOf({ pass: passOf(5), pause: () => 1 });
    cold('--s|').subscribe({ next: () => pipeline.stop() });
    expectObservable(pipeline.events$.pipe(map(name))).toBe('p-|');
  });
});

test('what comes beside the passes is told among them, and its end ends nothing', (t) => {
  marbles(t, ({ cold, expectObservable }) => {
    const beside = cold<EvictionEvent>('-b|', { b: event('b') });
    const pipeline = pipelineOf({ pass: passOf(0), pause: () => 4, beside: [beside] });
    expectObservable(pipeline.events$.pipe(map(name)), '^-------!').toBe('pb--p---');
  });
});

test('all subscribers see one run', (t) => {
  marbles(t, ({ expectObservable }) => {
    let passes = 0;
    const pipeline = pipelineOf({
      pass: () => {
        passes += 1;
        return concat(of(event(`${passes}`)), NEVER.pipe(concatMap(() => from([]))));
      },
      pause: () => 1,
    });
    expectObservable(pipeline.events$.pipe(map(name)), '^--!').toBe('1--');
    expectObservable(pipeline.events$.pipe(map(name)), '-^-!').toBe('---');
  });
});
