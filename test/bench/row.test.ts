import test from 'ava';
import { failures, type Measure, type Outcome, type Row } from './row.js';
import { renderTable } from './table.js';

const ROW: Row = {
  name: 'speed',
  question: 'how quick it is',
  missing: () => [],
  run: () => Promise.resolve({ measures: [], notes: [] }),
};
const measure = (value: number, mark: number | null): Measure => ({
  what: 'one call',
  unit: 'ms',
  value,
  spread: '1.00..9.00 of 3',
  mark,
  reference: 'nothing at all: 0',
});
const measured = (value: number, mark: number | null): Outcome => ({
  kind: 'measured',
  row: ROW,
  result: { measures: [measure(value, mark)], notes: ['measured with care'] },
});
const LACKING: Outcome = { kind: 'lacks-parts', row: ROW, missing: ['runc: install it'] };
const BROKEN: Outcome = { kind: 'broken', row: ROW, message: 'Cannot start\nstack' };
const FULL = { isQuick: false, requireReal: false };
const QUICK = { isQuick: true, requireReal: false };

const CASES = [
  ['a mark that is kept exactly', measured(5, 5), FULL, 0],
  ['a mark that is missed', measured(5.01, 5), FULL, 1],
  ['a number without a mark', measured(5, null), FULL, 0],
  ['a mark that is missed in a quick run', measured(5.01, 5), QUICK, 0],
  ['a row that cannot run, in a quick run', BROKEN, QUICK, 1],
  ['a row that lacks its parts', LACKING, FULL, 0],
  ['a row that lacks its parts where they are required', LACKING, { isQuick: true, requireReal: true }, 1],
] as const;

for (const [title, outcome, strictness, expected] of CASES) {
  test(`${title} ${expected === 0 ? 'does not fail' : 'fails'} the run`, (t) => {
    t.is(failures([outcome], strictness).length, expected);
  });
}

test('the table shows each row, whatever became of it', (t) => {
  const lines = renderTable([measured(4.321, 5), measured(6, 5), LACKING, BROKEN]).split('\n');
  t.regex(lines[0] ?? '', /^row +what +measured +spread +mark +verdict +reference$/);
  t.regex(lines[1] ?? '', /^speed +one call +4.32 ms +1.00..9.00 of 3 +<= 5.00 ms +pass +nothing at all: 0$/);
  t.regex(lines[2] ?? '', /6.00 ms .* MISS /);
  t.regex(lines[3] ?? '', /not run +runc: install it$/);
  t.regex(lines[4] ?? '', /CANNOT RUN +Cannot start$/);
  t.true(lines.includes('speed: measured with care'));
});
