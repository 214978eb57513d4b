import test from 'ava';
import * as v from 'valibot';
import { CASE, compare, compareAsSets, NotPlayed, playFile } from './case.js';

const HEAD = { source: 's', about: 'a', verified: false };
const SCHEMA = v.strictObject({ ...CASE, given: v.number(), expect: v.number() });
const doubles = playFile(SCHEMA, async ({ given, expect }) => compare('expect', expect, given * 2), {});

test('a case passes when what happened is what it expects, and else tells the difference', async (t) => {
  const cases = [
    { name: 'right', given: 1, expect: 2 },
    { name: 'wrong', given: 1, expect: 3 },
  ];
  const [right, wrong] = await doubles({ ...HEAD, cases });
  t.is(right?.outcome, 'passed');
  t.is(wrong?.outcome, 'failed');
  t.deepEqual(wrong?.differences, [{ path: 'expect', expected: 3, actual: 2 }]);
});

test('a key that nothing plays fails its case', async (t) => {
  const [result] = await doubles({ ...HEAD, cases: [{ name: 'strange', given: 1, expect: 2, besides: true }] });
  t.is(result?.outcome, 'failed');
  t.is(result?.differences[0]?.path, 'besides');
});

test('a key of the document that nothing plays fails the file', async (t) => {
  await t.throwsAsync(doubles({ ...HEAD, besides: true, cases: [] }));
});

test('what is thrown fails the case, and why it cannot be played is told', async (t) => {
  const throwing = (error: Error) =>
    playFile(
      v.strictObject(CASE),
      async () => {
        throw error;
      },
      {},
    )({ ...HEAD, cases: [{ name: 'one' }] });
  t.is((await throwing(new Error('broken')))[0]?.outcome, 'failed');
  const [notPlayed] = await throwing(new NotPlayed('no such thing here'));
  t.deepEqual(notPlayed, { name: 'one', outcome: 'not-played', differences: [], why: 'no such thing here' });
});

test('sets are compared with their numbers', (t) => {
  t.deepEqual(compareAsSets('x', ['a', 'b'], ['b', 'a']), []);
  t.not(compareAsSets('x', ['a', 'b'], ['a', 'a']).length, 0);
});
