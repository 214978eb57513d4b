import * as v from 'valibot';

/** The type of a value in a file: a word, a list, a map with free keys (`*`), or a map with these keys. */
export type TypeTree = string | readonly [TypeTree] | { readonly [key: string]: TypeTree };

/** A place in a file: keys of maps, positions in lists. */
export type Path = readonly (string | number)[];

/** A value of another type than belongs there. */
export interface TypeFault {
  readonly path: Path;
  readonly value: unknown;
  /** What belongs there. */
  readonly type: TypeTree;
}

const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** Checks types, all of them at once. A null passes everywhere: what it means is decided where the key is known. */
export function typeFaults(tree: TypeTree, value: unknown): readonly TypeFault[] {
  const result = v.safeParse(schemaOf(tree), value, { abortPipeEarly: true });
  const paths = (result.issues ?? []).map(
    ({ path }): Path => (path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key))),
  );
  return paths.map((path) => ({ path, value: valueAt(value, path), type: typeAt(tree, path) ?? 'string' }));
}

/** Keys that a tree does not know, all of them at once, with the keys it knows beside them. */
export function unknownKeys(
  tree: TypeTree,
  value: unknown,
  path: Path = [],
): { path: Path; known: readonly string[] }[] {
  if (typeof tree === 'string' || value === null || typeof value !== 'object') return [];
  if (isList(tree)) {
    return Array.isArray(value) ? value.flatMap((item, index) => unknownKeys(tree[0], item, [...path, index])) : [];
  }
  if (Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const known = Object.hasOwn(tree, key) ? tree[key] : tree['*'];
    return known === undefined
      ? [{ path: [...path, key], known: Object.keys(tree) }]
      : unknownKeys(known, item, [...path, key]);
  });
}

function schemaOf(tree: TypeTree): v.GenericSchema {
  if (typeof tree === 'string') return v.nullable(scalarSchema(tree));
  if (isList(tree)) return v.nullable(v.array(schemaOf(tree[0])));
  const rest = tree['*'];
  const inner =
    rest === undefined
      ? v.looseObject(Object.fromEntries(Object.entries(tree).map(([key, type]) => [key, v.optional(schemaOf(type))])))
      : v.record(v.string(), schemaOf(rest));
  // A list is an object to JavaScript, and not to us.
  return v.nullable(v.pipe(v.custom<Record<string, unknown>>(isPlainObject), inner));
}

function scalarSchema(type: string): v.GenericSchema {
  switch (type) {
    case 'bool':
      return v.boolean();
    case 'int32':
      return v.pipe(v.number(), v.integer(), v.minValue(INT32.min), v.maxValue(INT32.max));
    case 'uint32':
      return v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 32 - 1));
    case 'int64':
      return v.pipe(v.number(), v.integer());
    case 'float64':
      return v.number();
    case 'quantity':
    case 'duration or int64':
      return v.union([v.string(), v.number()]);
    case 'any':
      return v.unknown();
    default:
      // `string`, `duration` and `time` are written as text.
      return v.string();
  }
}

function typeAt(tree: TypeTree, path: Path): TypeTree | null {
  const [key, ...rest] = path;
  if (key === undefined) return tree;
  if (typeof tree === 'string') return null;
  const next = isList(tree) ? tree[0] : (tree[key] ?? tree['*']);
  return next === undefined ? null : typeAt(next, rest);
}

/** The value at a path; undefined when there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      inner !== null && typeof inner === 'object' && Object.hasOwn(inner, key) ? Reflect.get(inner, key) : undefined,
    value,
  );
}

function isList(tree: Exclude<TypeTree, string>): tree is readonly [TypeTree] {
  return Array.isArray(tree);
}

function isPlainObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
