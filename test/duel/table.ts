import { median } from './marks.js';
import type { Result } from './results.js';
import { SCENARIOS } from './scenario.js';

const BEGIN = '<!-- duel: begin (written by npm run duel) -->';
const END = '<!-- duel: end -->';

const HEAD = [
  'scenario',
  'profile',
  'n',
  'first action',
  'above the line for good',
  'at 0 bytes',
  'images deleted (needed)',
  'pods evicted',
  'needless evictions',
  'recovered',
];

/** The table of all results; one row for each scenario and profile that was played. */
export function renderTable(results: readonly Result[]): string {
  const rows = SCENARIOS.flatMap(({ title }) =>
    (['kubelet', 'reclaimd'] as const).flatMap((profile) => {
      const runs = results.filter((each) => each.scenario === title && each.profile === profile);
      return runs.length === 0 ? [] : [rowOf(title, profile, runs)];
    }),
  );
  return [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The text with what stands between the markers replaced. Throws when they are not there. */
export function withTable(text: string, table: string): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`Cannot write the table as its markers must be there: ${BEGIN}`);
  return `${text.slice(0, from + BEGIN.length)}\n${table}\n${text.slice(to)}`;
}

function rowOf(title: string, profile: string, runs: readonly Result[]): readonly string[] {
  const verdicts = runs.map(({ verdict }) => verdict);
  const kinds = new Set(verdicts.flatMap(({ firstKind }) => firstKind ?? []));
  const full = verdicts.map(({ secondsFull }) => secondsFull);
  const needless = verdicts.filter(({ needlessEvictions }) => needlessEvictions > 0).length;
  const recovered = verdicts.filter((each) => each.recovered).length;
  return [
    title,
    profile,
    String(runs.length),
    `${seconds(verdicts.map(({ firstAction }) => firstAction))} ${[...kinds].sort().join(', ')}`.trim(),
    seconds(verdicts.map(({ aboveForGood }) => aboveForGood)),
    full.every((each) => each === 0) ? '0' : seconds(full),
    span(verdicts.map(({ imagesDeleted }) => imagesDeleted)) === '0'
      ? '0'
      : `${span(verdicts.map(({ imagesDeleted }) => imagesDeleted))} (${span(verdicts.map(({ imagesNeeded }) => imagesNeeded))})`,
    podsOf(runs),
    needless === 0 ? '0' : `**in ${needless} of ${runs.length}**`,
    recovered === runs.length ? `${recovered}` : `**${recovered} of ${runs.length}**`,
  ];
}

/** Median (min..max) of seconds; "never" stands last. */
function seconds(values: readonly (number | null)[]): string {
  const sorted = values.map((value) => value ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const [least, middle, most] = [sorted[0], median(sorted), sorted.at(-1)];
  if (least === undefined || middle === undefined || most === undefined) return '';
  return least === most ? shown(middle) : `${shown(middle)} (${shown(least)}..${shown(most)})`;
}

function shown(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '**never**' : value.toFixed(value < 1 ? 2 : 1);
}

function span(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? String(least) : `${least}-${most}`;
}

/** How often which pods went; innocents in bold. */
function podsOf(runs: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const { verdict } of runs) {
    const text =
      verdict.evicted.map((pod) => (verdict.innocents.includes(pod) ? `**${pod}**` : pod)).join('+') || 'none';
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  if (counts.size === 1) return [...counts.keys()].join('');
  return [...counts].map(([text, count]) => `${count} × ${text}`).join(', ');
}
