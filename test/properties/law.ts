import test from 'ava';
import fc from 'fast-check';

/** How many random cases hold each law of the pure core. */
const RUNS = Number(process.env['RECLAIMD_PROPERTY_RUNS'] ?? 100_000);

/** A law of the core: a test that its property holds in every random case. A failure prints seed and smallest case. */
export function law<Values>(title: string, property: fc.IProperty<Values>): void {
  test(title, (t) => {
    fc.assert(property, { numRuns: RUNS, includeErrorInReport: true });
    t.pass();
  });
}

/** Throws with what is wrong, so that the smallest failing case says which part of the law it breaks. */
export function holds(isTrue: boolean, otherwise: string): asserts isTrue {
  if (!isTrue) throw new Error(`Cannot hold the law as ${otherwise}`);
}

/**
 * Reads a number as digits of mixed radix, the lowest first: one integer per thing keeps a hundred thousand cases cheap, and
 * still shrinks towards the plainest one. `digits(7, [2, 4])` is `[1, 3]`.
 */
export function digits<const Radixes extends readonly number[]>(
  code: number,
  radixes: Radixes,
): { readonly [Place in keyof Radixes]: number } {
  let rest = code;
  const read = radixes.map((radix) => {
    const digit = rest % radix;
    rest = Math.floor(rest / radix);
    return digit;
  });
  // One digit for each radix: `map` keeps the length but not the tuple type.
  return read as unknown as { readonly [Place in keyof Radixes]: number };
}

/** All numbers that `digits` reads with these radixes. */
export function codes(radixes: readonly number[]): fc.Arbitrary<number> {
  return fc.nat(radixes.reduce((product, radix) => product * radix, 1) - 1);
}

/** The entry of a table at a digit; the radix is the length of the table. */
export function pick<Item>(table: readonly Item[], digit: number): Item {
  if (digit >= table.length) throw new RangeError(`Cannot pick as the table has ${table.length} entries: ${digit}`);
  // Within the table, so that the item is there; an `undefined` in it is one of its items.
  return table[digit] as Item;
}
