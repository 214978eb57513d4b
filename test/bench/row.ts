/** How thoroughly to measure. */
export interface Effort {
  /** Fewer repetitions; a mark that is missed is shown and does not fail. */
  readonly isQuick: boolean;
  /** Says what is going on, for whoever waits. */
  readonly say: (text: string) => void;
}

/** One number, measured in this run. */
export interface Measure {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  /** `min..max` or percentiles, with the number of repetitions. */
  readonly spread: string;
  /** The largest value that is good enough, in the same unit; null for a number that is only shown. */
  readonly mark: number | null;
  /** What else was measured in the same run, to compare with. */
  readonly reference: string;
}

/** What a row found out. */
export interface RowResult {
  readonly measures: readonly Measure[];
  /** What a reader must know to judge them. */
  readonly notes: readonly string[];
}

/** One row of the benchmark: one question, in one file, answered by numbers with marks. */
export interface Row {
  /** By which it is chosen on the command line. */
  readonly name: string;
  readonly question: string;
  /** What this machine lacks for it, each with how to get it; empty when it can run. */
  missing(): readonly string[];
  /** Measures. Throws a `PartMissing`, and when it cannot for any other reason. Leaves nothing running behind. */
  run(effort: Effort): Promise<RowResult>;
}

/** Thrown by a row that finds out only while it runs that the machine lacks something; the message says how to get it. */
export class PartMissing extends Error {}

/** What became of a row. */
export type Outcome =
  | { readonly kind: 'measured'; readonly row: Row; readonly result: RowResult }
  | { readonly kind: 'lacks-parts'; readonly row: Row; readonly missing: readonly string[] }
  | { readonly kind: 'broken'; readonly row: Row; readonly message: string };

/** Whether a measure keeps its mark; null when it has none. */
export function keepsMark({ value, mark }: Measure): boolean | null {
  return mark === null ? null : value <= mark;
}

/** How strict the verdict is. */
export interface Strictness {
  readonly isQuick: boolean;
  /** A missing part is a failure. */
  readonly requireReal: boolean;
}

/** Why the run as a whole fails; empty when it does not. */
export function failures(outcomes: readonly Outcome[], { isQuick, requireReal }: Strictness): readonly string[] {
  return outcomes.flatMap((outcome) => {
    switch (outcome.kind) {
      case 'broken':
        // What follows the first line (the end of a log) was shown when it happened.
        return [`${outcome.row.name} cannot run: ${outcome.message.split('\n')[0]}`];
      case 'lacks-parts':
        return requireReal ? [`${outcome.row.name} lacks parts: ${outcome.missing.join('; ')}`] : [];
      case 'measured':
        if (isQuick) return [];
        return outcome.result.measures
          .filter((measure) => keepsMark(measure) === false)
          .map(
            ({ what, value, unit, mark }) => `${outcome.row.name} misses a mark: ${what}: ${value} > ${mark} ${unit}`,
          );
    }
  });
}
