import test from 'ava';
import { LateSpace } from '../../src/reclaim/late-space.js';
import { at } from '../fakes/builders.js';

const free = (bytes: number) => ({ 'nodefs.available': bytes });

test('what was claimed is outstanding until a look sees it, or its time is over', (t) => {
  const late = new LateSpace();
  t.is(late.outstanding(at(0)), 0);
  late.expect(100, free(10), at(0));
  t.is(late.outstanding(at(1)), 100);
  late.saw(free(70));
  t.is(late.outstanding(at(1)), 40);
  t.is(Number(late.waitLeft(at(1))), 1_000);
  t.is(late.outstanding(at(2)), 0);
});

test('once the runtime has freed everything nothing is owed, whatever was claimed', (t) => {
  const late = new LateSpace();
  late.expect(null, free(10), at(0));
  late.expect(100, free(10), at(0));
  late.sawAll(free(20));
  t.is(late.outstanding(at(1)), 0);
  t.is(late.owed(at(1)), 0);
  t.is(Number(late.waitLeft(at(1))), 0);
});

test('a rise counts from the last look, whatever was taken before', (t) => {
  const late = new LateSpace();
  late.expect(100, free(50), at(0));
  late.saw(free(20));
  late.saw(free(50));
  t.is(late.outstanding(at(1)), 70);
});

test('after the removal of images nothing more is waited for before the next, but their rise proves nothing', (t) => {
  const late = new LateSpace();
  late.expect(100, free(0), at(0));
  late.sawBeside(free(90));
  t.is(late.outstanding(at(1)), 0);
  t.is(late.owed(at(1)), 100);
  late.saw(free(100));
  t.is(late.owed(at(1)), 90);
  t.true(Number(late.waitLeft(at(1))) > 0);
});

test('an amount that nobody knows stays unknown until its time is over, and is then forgotten', (t) => {
  const late = new LateSpace();
  late.expect(null, free(0), at(0));
  late.saw(free(500));
  t.is(late.outstanding(at(1)), null);
  late.expect(100, free(500), at(1));
  t.is(late.outstanding(at(2)), null);
  late.expect(100, free(500), at(10));
  t.is(late.outstanding(at(11)), 100);
});

test('a collection for another disk books its removals here, and waits for nothing itself', (t) => {
  const late = new LateSpace();
  const elsewhere = late.elsewhere();
  elsewhere.expect(100, free(0), at(0));
  elsewhere.saw(free(500));
  elsewhere.sawBeside(free(900));
  t.is(elsewhere.owed(at(1)), 0);
  t.is(elsewhere.outstanding(at(1)), 0);
  t.is(Number(elsewhere.waitLeft(at(1))), 0);
  t.is(late.outstanding(at(1)), 100);
});
