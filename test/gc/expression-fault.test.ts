import test from 'ava';
import { expressionFault } from '../../src/gc/expression-fault.js';

for (const [expression, position, why] of [
  ['a(b**c)', 5, 'the second star has nothing to repeat'],
  ['*a', 1, 'a glob is no expression'],
  ['a(b', 2, 'the group that is not closed'],
  ['a(b[c', 4, 'of two that are open the inner one'],
  ['a)', 2, 'a bracket that closes nothing'],
  ['[z-a]', 4, 'a range the wrong way round'],
  ['a\\', 2, 'nothing behind the backslash'],
  ['a{', 2, 'half a number of times'],
  ['(a+)+$', 5, 'a repetition in a repeated group'],
  ['((a+)b)*', 8, 'the same one group further out'],
  ['(a|a)*', 6, 'alternatives in a repeated group'],
  ['(?:a{2,})+', 10, 'a repetition without an end in braces'],
  ['(a)\\1', 4, 'a reference back'],
  ['(?<x>a)\\k<x>', 8, 'a reference back by name'],
] as const) {
  test(`the expression ${expression} is refused at position ${position}: ${why}`, (t) => {
    t.is(expressionFault(expression)?.position, position);
  });
}

for (const expression of [
  '^registry\\.local/.*$',
  '(a|b)c',
  '(ab)+c*',
  '((a)+b)',
  '[(+)*]+',
  '(?:a{3})+',
  '\\(a+\\)+',
  'a,b',
]) {
  test(`the expression ${expression} is taken`, (t) => {
    t.is(expressionFault(expression), null);
  });
}

test('the fault says what the engine says, without the expression', (t) => {
  t.is(expressionFault('a(b**c)')?.rule, 'it must be a regular expression (nothing to repeat)');
});
