import { type Milliseconds, milliseconds } from './units.js';

/** A text that is not a duration. The message says what was read and which rule it breaks. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
}

/** Nanoseconds in each unit; the micro sign and the Greek letter both stand for micro. */
const UNITS = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
} as const;
/** A duration is a signed 64-bit number of nanoseconds. */
const LIMIT = 2n ** 63n;
const PART = /(?<whole>[0-9]*)(?:\.(?<fraction>[0-9]*))?(?<unit>[^0-9.]+)/y;

/**
 * Reads a duration as Go's `time.ParseDuration` does: `1m30s`, `1.5h`, `-30s`, `.5s`, and a bare `0`.
 * @returns nanoseconds, possibly negative
 * @throws DurationError when the text is not a duration or does not fit 64 bits
 */
export function parseDuration(text: string): bigint {
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const body = text.slice(sign.length);
  if (body === '0') return 0n;
  if (body === '') throw notADuration(text);
  const magnitude = partsOf(body, text).reduce((sum, part) => sum + part, 0n);
  if (magnitude > (sign === '-' ? LIMIT : LIMIT - 1n)) {
    throw new DurationError(`Cannot read a duration as it must stay below 2^63 nanoseconds: "${text}"`);
  }
  return sign === '-' ? -magnitude : magnitude;
}

/** Writes nanoseconds as Go does: `1m30s`, `5m0s`, `1.5ms`, `0s`. What is written is read back to the same number. */
export function formatDuration(nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? '-' : '';
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (magnitude === 0n) return '0s';
  if (magnitude < UNITS.us) return `${sign}${magnitude}ns`;
  if (magnitude < UNITS.ms) return `${sign}${decimal(magnitude, UNITS.us)}µs`;
  if (magnitude < UNITS.s) return `${sign}${decimal(magnitude, UNITS.ms)}ms`;
  const hours = magnitude / UNITS.h;
  const minutes = (magnitude % UNITS.h) / UNITS.m;
  const seconds = `${decimal(magnitude % UNITS.m, UNITS.s)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

/** The same without empty parts at the end, as people write it: `5m`, `2h`, `1m30s`. */
export function shortDuration(nanoseconds: bigint): string {
  return formatDuration(nanoseconds).replace(/m0s$/, 'm').replace(/h0m$/, 'h');
}

/**
 * Milliseconds of a number of nanoseconds.
 * @throws RangeError when it is negative
 */
export function millisecondsOf(nanoseconds: bigint): Milliseconds {
  return milliseconds(Number(nanoseconds) / 1e6);
}

/** Nanoseconds of a number of milliseconds, to the nearest one. */
export function nanosecondsOf(duration: Milliseconds): bigint {
  return BigInt(Math.round(duration * 1e6));
}

function partsOf(body: string, text: string): bigint[] {
  const parts: bigint[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < body.length) {
    const groups = PART.exec(body)?.groups;
    if (groups === undefined) throw notADuration(text);
    const { whole = '', fraction = '', unit = '' } = groups;
    if ((whole === '' && fraction === '') || !isUnit(unit)) throw notADuration(text);
    // Go multiplies the decimals in double precision and drops what is left below a nanosecond.
    const decimals =
      fraction === '' ? 0n : BigInt(Math.trunc(Number(fraction) * (Number(UNITS[unit]) / 10 ** fraction.length)));
    parts.push(BigInt(`0${whole}`) * UNITS[unit] + decimals);
  }
  return parts;
}

function decimal(value: bigint, unit: bigint): string {
  const digits = `${unit + (value % unit)}`.slice(1).replace(/0+$/, '');
  return digits === '' ? `${value / unit}` : `${value / unit}.${digits}`;
}

function isUnit(text: string): text is keyof typeof UNITS {
  return Object.hasOwn(UNITS, text);
}

function notADuration(text: string): DurationError {
  return new DurationError(
    `Cannot read a duration as it is a number with a unit (ns, us, ms, s, m, h), such as 90s: "${text}"`,
  );
}
