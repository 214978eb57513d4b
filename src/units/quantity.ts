/**
 * Amounts as Kubernetes writes them: `100Mi`, `1.5Gi`, `500m`, `1e9`. The value is kept exactly, in units of 1e-9, the
 * finest that a quantity knows; thresholds lie on such values and a rounded one would lie beside them.
 */
export interface Quantity {
  /** The exact value times 1e9. */
  readonly nano: bigint;
  /** The text as it was written. */
  readonly text: string;
}

/** A text that is not a quantity. The message says what was read and which rule it breaks. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const NANO = 1_000_000_000n;
/** Powers of ten. `E` with nothing behind it is one; followed by digits it begins an exponent. */
const DECIMAL = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 } as const;
/** Powers of two. */
const BINARY = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 } as const;
/** The largest amount with a binary suffix: larger ones are cut down to it. */
const BINARY_MAX = 2n ** 63n - 1n;
/**
 * An exponent is cut to this size before it is applied. `1e999999999` would otherwise take gigabytes to write out; with
 * 400 it is just as far beyond every disk, and a negative one just as certainly below 1n.
 */
const EXPONENT_MAX = 400;

const SHAPE = /^(?<sign>[+-]?)(?<whole>[0-9]*)(?:\.(?<part>[0-9]*))?(?<suffix>[eEinumkKMGTP]*[+-]?[0-9]*)$/;

/**
 * Reads a quantity as the kubelet does (`resource.ParseQuantity`): an optional sign, digits with an optional point, and a
 * binary suffix, a decimal suffix or an exponent. A text without digits is 0 where the kubelet takes it for 0, amounts
 * below 1n are rounded up (away from zero) to 1n, and amounts with a binary suffix end at 2^63 - 1.
 * @throws QuantityError when the text is not a quantity
 */
export function parseQuantity(text: string): Quantity {
  const shape = text === '' ? null : SHAPE.exec(text);
  if (shape?.groups === undefined) {
    throw new QuantityError(
      `Cannot read a quantity as it is a number with an optional suffix such as Mi, G or e3: "${text}"`,
    );
  }
  const { sign = '', whole = '', part = '', suffix = '' } = shape.groups;
  const scale = scaleOf(suffix);
  if (scale === null) {
    throw new QuantityError(
      `Cannot read a quantity as its suffix is one of Ki Mi Gi Ti Pi Ei n u m k M G T P E or an exponent: "${text}"`,
    );
  }
  if (whole === '' && part === '' && text !== sign && needsDigits(scale)) {
    throw new QuantityError(`Cannot read a quantity as it has no digits: "${text}"`);
  }
  const magnitude = magnitudeOf(BigInt(`0${whole}${part}`), part.length, scale);
  return { nano: sign === '-' ? -magnitude : magnitude, text };
}

/** The whole value, rounded up (towards positive infinity), as `Quantity.Value()` gives it in Go. */
export function valueRoundedUp(quantity: Quantity): bigint {
  const whole = quantity.nano / NANO;
  return quantity.nano > 0n && quantity.nano % NANO !== 0n ? whole + 1n : whole;
}

/** The quantity of a whole number, with its canonical text. */
export function quantityOf(value: bigint, form: 'binary' | 'decimal'): Quantity {
  return { nano: value * NANO, text: formatQuantity(value, form) };
}

/**
 * Writes a whole number in the canonical form: the largest suffix that leaves no fraction. In binary form numbers below
 * 1024 stay plain, as in the kubelet: `formatQuantity(1610612736n, 'binary')` is `1536Mi`.
 */
export function formatQuantity(value: bigint, form: 'binary' | 'decimal'): string {
  const [base, suffixes] = form === 'binary' ? [1024n, Object.keys(BINARY)] : [1000n, ['k', 'M', 'G', 'T', 'P', 'E']];
  const steps = suffixes.findIndex((_, index) => value === 0n || value % base ** BigInt(index + 1) !== 0n);
  const taken = steps === -1 ? suffixes.length : steps;
  return `${value / base ** BigInt(taken)}${taken === 0 ? '' : suffixes[taken - 1]}`;
}

/** What a suffix multiplies with. */
type Scale = { readonly kind: 'ten' | 'two'; readonly exponent: number };

function scaleOf(suffix: string): Scale | null {
  if (isKeyOf(DECIMAL, suffix)) return { kind: 'ten', exponent: DECIMAL[suffix] };
  if (isKeyOf(BINARY, suffix)) return { kind: 'two', exponent: BINARY[suffix] };
  const exponent = /^[eE](?<digits>[+-]?[0-9]+)$/.exec(suffix)?.groups?.['digits'];
  if (exponent === undefined) return null;
  const wide = BigInt(exponent.replace('+', ''));
  if (wide !== BigInt.asIntN(64, wide)) return null;
  // The kubelet keeps the low 32 bits only, so an exponent of 2^32 counts as 0.
  const kept = Number(BigInt.asIntN(32, wide));
  return { kind: 'ten', exponent: Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, kept)) };
}

/**
 * Whether a text without digits is refused. The kubelet has a short way for amounts that surely fit 64 bits, which takes
 * no digits for 0, and a long way, which insists on them: `Mi` is 0 and `Pi` is an error.
 */
function needsDigits(scale: Scale): boolean {
  return scale.kind === 'two' ? scale.exponent >= BINARY.Pi : scale.exponent < DECIMAL.n;
}

function magnitudeOf(digits: bigint, decimals: number, scale: Scale): bigint {
  if (scale.kind === 'two') {
    const value = dividedUp(digits * 2n ** BigInt(scale.exponent) * NANO, 10n ** BigInt(decimals));
    return value > BINARY_MAX * NANO ? BINARY_MAX * NANO : value;
  }
  const power = scale.exponent - decimals + 9;
  return power >= 0 ? digits * 10n ** BigInt(power) : dividedUp(digits, 10n ** BigInt(-power));
}

function dividedUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

function isKeyOf<Table extends object>(table: Table, key: string): key is Extract<keyof Table, string> {
  return Object.hasOwn(table, key);
}
