import { keepsMark, type Measure, type Outcome } from './row.js';
import { digits } from './statistics.js';

const HEADINGS = ['row', 'what', 'measured', 'spread', 'mark', 'verdict', 'reference'] as const;

/** All rows as one table, then what must be known to judge them. */
export function renderTable(outcomes: readonly Outcome[]): string {
  const lines = [HEADINGS, ...outcomes.flatMap(linesOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const table = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const notes = outcomes.flatMap((outcome) =>
    outcome.kind === 'measured' ? outcome.result.notes.map((note) => `${outcome.row.name}: ${note}`) : [],
  );
  return `${[...table, '', ...notes].join('\n').trimEnd()}\n`;
}

function linesOf(outcome: Outcome): readonly (readonly string[])[] {
  const { name } = outcome.row;
  switch (outcome.kind) {
    case 'measured':
      return outcome.result.measures.map((measure) => [
        name,
        measure.what,
        `${digits(measure.value)} ${measure.unit}`,
        measure.spread,
        measure.mark === null ? '-' : `<= ${digits(measure.mark)} ${measure.unit}`,
        verdict(measure),
        measure.reference,
      ]);
    case 'lacks-parts':
      return [[name, outcome.row.question, '-', '-', '-', 'not run', outcome.missing.join('; ')]];
    case 'broken':
      return [[name, outcome.row.question, '-', '-', '-', 'CANNOT RUN', outcome.message.split('\n')[0] ?? '']];
  }
}

function verdict(measure: Measure): string {
  const kept = keepsMark(measure);
  return kept === null ? '-' : kept ? 'pass' : 'MISS';
}
