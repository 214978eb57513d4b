import * as v from 'valibot';

/** Where what happened is not what a case expects. */
export interface Difference {
  /** As in `steps[3].expect.removed[0].id`. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** What became of one case. */
export interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'not-played';
  readonly differences: readonly Difference[];
  /** Why it was not played, or what was thrown. */
  readonly why?: string;
}

/** Plays all cases of a file. `document` is the file's parsed JSON. */
export type PlayFile = (document: unknown) => Promise<CaseResult[]>;

/** The files of one subject, by name without `.json`. */
export type PlayFiles = Readonly<Record<string, PlayFile>>;

/** A case that cannot be played, with the reason. */
export class NotPlayed extends Error {
  override readonly name = 'NotPlayed';
}

/** What every file says of itself beside its cases. */
const HEAD = {
  source: v.string(),
  about: v.string(),
  verified: v.union([v.string(), v.boolean()]),
  verifiedNote: v.optional(v.string()),
  note: v.optional(v.string()),
};

/** What every case says of itself beside its subject. */
export const CASE = {
  name: v.string(),
  note: v.optional(v.string()),
  origin: v.optional(v.string()),
  upstreamTest: v.optional(v.string()),
  seed: v.optional(v.number()),
};

/**
 * Makes the player of a file. Each case is read by `schema` (make it strict: an unknown key is then a failed case) and played;
 * the differences that it answers with decide. What it throws is a failed case, a `NotPlayed` excepted. `more` are keys of the
 * document that the play reads.
 */
export function playFile<Schema extends v.GenericSchema, More extends v.ObjectEntries>(
  schema: Schema,
  play: (
    each: v.InferOutput<Schema>,
    document: v.InferOutput<v.StrictObjectSchema<More, undefined>>,
  ) => Promise<readonly Difference[]>,
  more: More,
): PlayFile {
  const documentSchema = v.strictObject({ ...HEAD, cases: v.array(v.looseObject({ name: v.string() })) });
  return async (document) => {
    const moreKeys = Object.keys(more);
    const entries = Object.entries(v.parse(v.looseObject({}), document));
    const parsed = v.parse(documentSchema, Object.fromEntries(entries.filter(([key]) => !moreKeys.includes(key))));
    const ownKeys = v.parse(
      v.strictObject(more),
      Object.fromEntries(entries.filter(([key]) => moreKeys.includes(key))),
    );
    const results: CaseResult[] = [];
    for (const each of parsed.cases) results.push(await playCase(each, schema, (read) => play(read, ownKeys)));
    return results;
  };
}

async function playCase<Schema extends v.GenericSchema>(
  each: { readonly name: string },
  schema: Schema,
  play: (read: v.InferOutput<Schema>) => Promise<readonly Difference[]>,
): Promise<CaseResult> {
  const { name } = each;
  const read = v.safeParse(schema, each);
  if (!read.success) {
    const differences = read.issues.map((issue) => ({
      path: v.getDotPath(issue) ?? '',
      expected: issue.expected,
      actual: issue.received,
    }));
    return { name, outcome: 'failed', differences, why: 'the case has a key or a value that nothing here plays' };
  }
  try {
    const differences = await play(read.output);
    return { name, outcome: differences.length === 0 ? 'passed' : 'failed', differences };
  } catch (error) {
    if (error instanceof NotPlayed) return { name, outcome: 'not-played', differences: [], why: error.message };
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { name, outcome: 'failed', differences: [], why };
  }
}

/** All differences of two values, by path. A key that is undefined is a key that is not there. */
export function compare(path: string, expected: unknown, actual: unknown): readonly Difference[] {
  if (Object.is(expected, actual)) return [];
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((each, index) => compare(`${path}[${index}]`, each, actual[index]));
  }
  if (isObject(expected) && isObject(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => compare(path === '' ? key : `${path}.${key}`, expected[key], actual[key]));
  }
  return [{ path, expected, actual }];
}

/** Compares only what is expected: the keys of `expected`, each completely. */
export function compareExpected(
  path: string,
  expected: Readonly<Record<string, unknown>>,
  actual: Readonly<Record<string, unknown>>,
): readonly Difference[] {
  return Object.entries(expected).flatMap(([key, value]) =>
    value === undefined ? [] : compare(`${path}.${key}`, value, actual[key]),
  );
}

/** The same elements in any order. */
export function compareAsSets(
  path: string,
  expected: readonly unknown[],
  actual: readonly unknown[],
): readonly Difference[] {
  return compare(path, sortedTexts(expected), sortedTexts(actual));
}

function sortedTexts(values: readonly unknown[]): readonly string[] {
  return values.map((each) => JSON.stringify(each, sortedKeys)).sort();
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
