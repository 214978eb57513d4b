/** Plain data, as JSON holds it. */
export type StoredValue =
  | boolean
  | number
  | string
  | null
  | readonly StoredValue[]
  | { readonly [field: string]: StoredValue };

/**
 * Reads what was saved, by another version perhaps. Each function throws a `RangeError` that names what it did not find; the
 * entry it stands in is then passed over.
 */
export const saved = {
  fields: (value: StoredValue): Readonly<Record<string, StoredValue>> => {
    if (typeof value !== 'object' || value === null || isList(value)) throw wrong('a map', value);
    return value;
  },
  list: (value: StoredValue | undefined): readonly StoredValue[] => {
    if (!isList(value)) throw wrong('a list', value);
    return value;
  },
  text: (value: StoredValue | undefined): string => {
    if (typeof value !== 'string') throw wrong('a text', value);
    return value;
  },
  number: (value: StoredValue | undefined): number => {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong('a number', value);
    return value;
  },
  boolean: (value: StoredValue | undefined): boolean => {
    if (typeof value !== 'boolean') throw wrong('true or false', value);
    return value;
  },
  orNull: <Value>(read: (value: StoredValue) => Value, value: StoredValue | undefined): Value | null => {
    if (value === undefined) throw wrong('a value or null', value);
    return value === null ? null : read(value);
  },
};

function isList(value: StoredValue | undefined): value is readonly StoredValue[] {
  return Array.isArray(value);
}

function wrong(what: string, value: StoredValue | undefined): RangeError {
  return new RangeError(`Cannot read what was saved as it must be ${what}: ${JSON.stringify(value)?.slice(0, 80)}`);
}
