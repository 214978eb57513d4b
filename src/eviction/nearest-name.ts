/** How many letters may differ before a name is no longer taken for a misspelling of another. */
const MOST_EDITS = 2;

/**
 * The name that was probably meant: at most two letters inserted, left out or replaced, upper and lower case being equal.
 * Null when none is that near; of several the nearest, then the first.
 */
export function nearestName(text: string, names: readonly string[]): string | null {
  const best = names
    .map((name) => ({ name, edits: editDistance(text.toLowerCase(), name.toLowerCase()) }))
    .reduce<{ name: string; edits: number } | null>(
      (near, next) => (near !== null && near.edits <= next.edits ? near : next),
      null,
    );
  return best !== null && best.edits <= MOST_EDITS ? best.name : null;
}

/** Levenshtein's distance, row by row. */
function editDistance(left: string, right: string): number {
  // A name far longer than the other needs no counting; it also bounds the work on a hostile text.
  if (Math.abs(left.length - right.length) > MOST_EDITS) return Number.POSITIVE_INFINITY;
  const first = Array.from({ length: right.length + 1 }, (_, index) => index);
  const last = [...left].reduce((above, letter, index) => {
    const row = [index + 1];
    [...right].forEach((other, column) => {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (row[column] ?? 0) + 1));
    });
    return row;
  }, first);
  return last.at(-1) ?? 0;
}
