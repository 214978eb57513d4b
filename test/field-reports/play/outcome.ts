/** Where what happened is not what a scenario expects. */
export interface Difference {
  /** As in `expect[2].calls.only`. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** A difference at a path. */
export function difference(path: string, expected: unknown, actual: unknown): Difference {
  return { path, expected, actual };
}

/** No difference when two values are the same. */
export function same(path: string, expected: unknown, actual: unknown): readonly Difference[] {
  return Object.is(expected, actual) ? [] : [difference(path, expected, actual)];
}

/** No difference where a condition holds. */
export function holds(isSo: boolean, path: string, expected: unknown, actual: unknown): readonly Difference[] {
  return isSo ? [] : [difference(path, expected, actual)];
}
