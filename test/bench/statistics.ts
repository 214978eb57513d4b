/** What repetitions of one measurement say together. */
export interface Summary {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * The smallest value that at least that share of all values does not exceed (nearest rank), so it is always one that was
 * measured. Throws for no values, and for a share outside 0..1.
 */
export function percentile(values: readonly number[], share: number): number {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`Cannot take a percentile as the share is 0 to 1: ${share}`);
  const sorted = [...values].sort((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (found === undefined) throw new RangeError('Cannot take a percentile as there must be values: none');
  return found;
}

/** Summary of the values, in their unit. Throws for none. */
export function summarise(values: readonly number[]): Summary {
  return {
    count: values.length,
    min: percentile(values, 0),
    median: percentile(values, 0.5),
    p99: percentile(values, 0.99),
    max: percentile(values, 1),
  };
}

/** Three digits that count, without an exponent: `0.123`, `12.3`, `1,234`. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const decimals = Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** `min..max`. */
export function range({ min, max }: Summary): string {
  return `${digits(min)}..${digits(max)}`;
}

/** A level seen at two times. */
export interface Level {
  /** Nanoseconds. */
  readonly at: bigint;
  readonly value: number;
}

/**
 * When a level that falls evenly between two looks passed the line: `above` is at or above it, `below` under it. Throws
 * when they are not.
 */
export function crossing(above: Level, below: Level, line: number): bigint {
  if (above.value < line || below.value >= line || below.at < above.at) {
    throw new RangeError(
      `Cannot tell a crossing as the looks must lie on both sides of ${line}: ${above.value}, ${below.value}`,
    );
  }
  const share = (above.value - line) / (above.value - below.value);
  return above.at + BigInt(Math.round(Number(below.at - above.at) * share));
}
