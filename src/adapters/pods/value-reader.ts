import { parseQuantity, type Quantity, QuantityError } from '../../units/quantity.js';

/** Keys and indices from the root of a document to one of its values. */
export type ValuePath = readonly (string | number)[];

/** One value that is not what it must be. */
export interface ValueFault {
  readonly path: ValuePath;
  /** Worded to follow "as". */
  readonly rule: string;
  /** The value, short enough for one line. */
  readonly value: string;
}

/** A map whose values are not looked at yet. */
export type ValueMap = Readonly<Record<string, unknown>>;

/** Of a value; the place tells where to find the rest. */
const CHARACTERS_SHOWN = 80;

/**
 * Takes values out of plain data that somebody else wrote, and collects what is wrong with them. What is absent or null is null,
 * and so is what has a fault: a caller that must tell them apart looks whether faults have been added.
 */
export class ValueReader {
  readonly faults: ValueFault[] = [];

  /** A map, or null. */
  map(value: unknown, path: ValuePath): ValueMap | null {
    if (value === undefined || value === null) return null;
    if (isMap(value)) return value;
    return this.#wrong(path, 'it must be a map', value);
  }

  /** The items of a list; none when it is absent. */
  list(value: unknown, path: ValuePath): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    return this.#wrong(path, 'it must be a list', value) ?? [];
  }

  text(value: unknown, path: ValuePath): string | null {
    if (value === undefined || value === null) return null;
    return typeof value === 'string' ? value : this.#wrong(path, 'it must be text', value);
  }

  integer(value: unknown, path: ValuePath): number | null {
    if (value === undefined || value === null) return null;
    return typeof value === 'number' && Number.isSafeInteger(value)
      ? value
      : this.#wrong(path, 'it must be a whole number', value);
  }

  /** An amount that is not negative; a plain number is one too. */
  quantity(value: unknown, path: ValuePath): Quantity | null {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string' && typeof value !== 'number') {
      return this.#wrong(path, 'it must be a quantity such as 100Mi', value);
    }
    try {
      const quantity = parseQuantity(String(value));
      return quantity.nano < 0n ? this.#wrong(path, 'it must not be negative', value) : quantity;
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      return this.#wrong(path, 'it must be a quantity such as 100Mi', value);
    }
  }

  /** Amounts by name; those that are wrong are left out. */
  amounts(value: unknown, path: ValuePath): Readonly<Record<string, Quantity>> {
    return Object.fromEntries(
      Object.entries(this.map(value, path) ?? {}).flatMap(([name, each]) => {
        const quantity = this.quantity(each, [...path, name]);
        return quantity === null ? [] : [[name, quantity] as const];
      }),
    );
  }

  /** Notes that a value is wrong; answers null in its place. */
  #wrong(path: ValuePath, rule: string, value: unknown): null {
    this.faults.push({ path, rule, value: shown(value) });
    return null;
  }
}

/** A fault as a sentence without its place. */
export function faultText({ path, rule, value }: ValueFault): string {
  return `${pathText(path)}: Cannot use this value as ${rule}: ${value}`;
}

/** `spec.containers[0].name`. */
export function pathText(path: ValuePath): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}

/** A value on one line of a terminal: what a hostile file holds must not reach it as it is. */
export function shown(value: unknown): string {
  const text = isMap(value) ? 'a map' : Array.isArray(value) ? 'a list' : String(value);
  const cut = text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)}…` : text;
  return cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
}

/** A key's own value; what every object inherits is not in the document. */
export function valueOf(map: ValueMap | null, key: string): unknown {
  return map !== null && Object.hasOwn(map, key) ? map[key] : null;
}

function isMap(value: unknown): value is ValueMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
