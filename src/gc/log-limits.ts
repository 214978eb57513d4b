import { parseQuantity, QuantityError } from '../units/quantity.js';

/** How container logs are rotated. */
export interface LogLimits {
  readonly maxSizeBytes: number;
  /** Files per log, the current one included; at least 2. */
  readonly maxFiles: number;
}

/** What became of the two settings. */
export type LogLimitsResult =
  | { readonly kind: 'limits'; readonly limits: LogLimits }
  /** A negative size: logs are not rotated. */
  | { readonly kind: 'off' }
  | {
      readonly kind: 'refused';
      readonly fault: 'max-files-too-small' | 'max-size-unreadable' | 'max-size-not-an-integer';
      readonly message: string;
    };

/**
 * Reads `containerLogMaxSize` and `containerLogMaxFiles` as the kubelet's log manager does: files are checked first; size 0
 * means that every log is rotated in every pass.
 */
export function readLogLimits(maxSize: string, maxFiles: number): LogLimitsResult {
  if (maxFiles <= 1) {
    return refused('max-files-too-small', `Cannot rotate logs as at least 2 files must be kept per log: ${maxFiles}`);
  }
  try {
    parseQuantity(maxSize);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return refused('max-size-unreadable', `Cannot rotate logs as their size must be a quantity: "${maxSize}"`);
  }
  const size = exactInteger(maxSize);
  if (size === null) {
    return refused(
      'max-size-not-an-integer',
      `Cannot rotate logs as their size must be a whole number of bytes written without a fraction: "${maxSize}"`,
    );
  }
  if (size < 0n) return { kind: 'off' };
  // Beyond 2^53 bytes no log grows; the number only has to be larger than every size.
  return { kind: 'limits', limits: { maxSizeBytes: Number(size), maxFiles } };
}

const PARTS = /^(?<sign>[+-]?)0*(?<whole>[0-9]*)(?:\.(?<part>[0-9]*))?(?<suffix>.*)$/;
const TENS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const TWOS: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
/** Digits of decimal amounts that the kubelet keeps as an integer. */
const DECIMAL_DIGITS = 18;
/** The same for amounts with a binary suffix, before the digits of the suffix. */
const BINARY_DIGITS = 15;
const MOST = 2n ** 63n - 1n;

/**
 * The quantity as the 64-bit integer that Go keeps it as, or null where it keeps a decimal instead (`Quantity.AsInt64`). That
 * is decided by how the text is written, not by its value: `2000m` and `1.5Gi` are whole and refused.
 */
function exactInteger(text: string): bigint | null {
  const { sign = '', whole = '', part = '', suffix = '' } = PARTS.exec(text)?.groups ?? {};
  const two = TWOS[suffix];
  if (two !== undefined) {
    const room = BINARY_DIGITS - whole.length - Math.trunc((two * 3) / 10) - 1;
    if (part !== '' || room < 0) return null;
    return signed(sign, BigInt(`0${whole}`) * 2n ** BigInt(two));
  }
  const ten = TENS[suffix] ?? Number(suffix.slice(1));
  const scale = ten - part.length;
  if (whole.length + part.length > DECIMAL_DIGITS || scale < 0) return null;
  const digits = BigInt(`0${whole}${part}`);
  // A scale beyond what 64 bits hold: only zero stays what it is.
  if (scale > DECIMAL_DIGITS) return digits === 0n ? 0n : null;
  return signed(sign, digits * 10n ** BigInt(scale));
}

function signed(sign: string, magnitude: bigint): bigint | null {
  if (magnitude > MOST) return null;
  return sign === '-' ? -magnitude : magnitude;
}

function refused(
  fault: 'max-files-too-small' | 'max-size-unreadable' | 'max-size-not-an-integer',
  message: string,
): LogLimitsResult {
  return { kind: 'refused', fault, message };
}
