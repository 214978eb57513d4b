import { parseQuantity, type Quantity, QuantityError, valueRoundedUp } from '../units/quantity.js';
import { percentAdvice, quantityAdvice, smallAmountAdvice } from './limit-advice.js';
import { SIGNALS, type Signal } from './signal.js';
import type { Limit } from './threshold.js';

/** What can be wrong or doubtful about one limit. */
export type LimitCode =
  | 'ABSURDLY_LARGE'
  | 'ALWAYS_MET'
  | 'BAD_PERCENT'
  | 'BAD_QUANTITY'
  | 'BYTE_SUFFIX_ON_INODES'
  | 'LESS_THAN_ONE'
  | 'LOOKS_LIKE_USED_PERCENT'
  | 'NEGATIVE'
  | 'NEVER_MET'
  | 'NOT_POSITIVE'
  | 'OUT_OF_RANGE'
  | 'SUSPICIOUSLY_SMALL'
  | 'UNUSUAL_NUMBER';

/** A rule that a text breaks (`error`) or that makes it doubtful (`warning`), worded to follow the word "as". */
export interface Finding<Code extends string> {
  readonly severity: 'error' | 'warning';
  readonly code: Code;
  readonly rule: string;
}

/** What a limit is for: the line itself, or how much above it must be free. Their rules differ a little. */
export type LimitPurpose = 'threshold' | 'reclaim';

/** A limit as read. `off` is a threshold that was switched off with exactly `0%` or `100%`. */
export type LimitReading =
  | { readonly kind: 'limit'; readonly limit: Limit; readonly findings: readonly Finding<LimitCode>[] }
  | { readonly kind: 'off' }
  | { readonly kind: 'refused'; readonly findings: readonly Finding<LimitCode>[] };

const ONE = 1_000_000_000n;
const MEBI = 1_048_576n * ONE;
const EXA = 10n ** 18n * ONE;
/** Above this share of a disk a threshold is more often a "used" percentage taken for a "free" one. */
const LIKELY_USED = 50;
const PLAIN_NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?<exponent>[eE][+-]?[0-9]+)?$/;
const INFINITE = /^[+-]?inf(?:inity)?$/i;

/** Reads a limit with exactly the kubelet's rules (`parseThresholdStatement`, `parseMinimumReclaims`), quirks included. */
export function readKubeletLimit(text: string, purpose: LimitPurpose): LimitReading {
  if (!text.endsWith('%')) return readQuantity(text, purpose);
  if (purpose === 'threshold' && isOff(text)) return { kind: 'off' };
  const fraction = parsePercentage(text);
  if (fraction === null) return refused('BAD_PERCENT', 'what stands before % must be a number');
  if (purpose === 'reclaim' && fraction <= 0) {
    return refused('NOT_POSITIVE', 'a minimum reclaim in percent must be positive');
  }
  if (purpose === 'threshold' && fraction < 0) return refused('OUT_OF_RANGE', 'a percentage must be at least 0%');
  if (purpose === 'threshold' && fraction > 1) return refused('OUT_OF_RANGE', 'a percentage must be at most 100%');
  return { kind: 'limit', limit: { kind: 'fraction', fraction }, findings: [] };
}

/** Reads a limit strictly: what is doubtful is said, and what is nonsense although the kubelet takes it is refused. */
export function readStrictLimit(text: string, purpose: LimitPurpose, signal: Signal): LimitReading {
  if (purpose === 'threshold' && isOff(text)) return { kind: 'off' };
  if (text.endsWith('%')) return readStrictPercent(text, purpose, signal);
  const reading = readQuantity(text, purpose);
  if (reading.kind !== 'limit' || reading.limit.kind !== 'amount') return reading;
  return { ...reading, findings: doubtsAboutAmount(reading.limit.quantity, signal) };
}

/**
 * Reads a percentage as Go does: trailing percent signs are cut off, the rest is a 32-bit float, divided by 100 in 32 bits.
 * Null when it is not a number or beyond 32 bits; `NaN` and infinities are numbers here. Mirrors `parsePercentage`.
 */
export function parsePercentage(text: string): number | null {
  const number = parseGoFloat(text.replace(/%+$/, ''));
  return number === null ? null : Math.fround(number / 100);
}

/** A limit as people write it: the quantity's text, or the shortest percentage that reads back to the same fraction. */
export function limitText(limit: Limit): string {
  if (limit.kind === 'amount') return limit.quantity.text;
  const percent = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    .map((digits) => Number((limit.fraction * 100).toPrecision(digits)))
    .find((candidate) => Math.fround(Math.fround(candidate) / 100) === limit.fraction);
  return `${percent ?? limit.fraction * 100}%`;
}

function readStrictPercent(text: string, purpose: LimitPurpose, signal: Signal): LimitReading {
  const body = text.slice(0, -1);
  const shape = PLAIN_NUMBER.exec(body);
  if (shape === null && !INFINITE.test(body)) return refused('BAD_PERCENT', percentAdvice(text));
  const percent = Number(body);
  const fraction = Math.fround(Math.fround(percent) / 100);
  if (purpose === 'reclaim' && fraction === 0) {
    return refused('NOT_POSITIVE', 'a minimum reclaim in percent must be positive; leave it out where none is wanted');
  }
  if (purpose === 'reclaim' && percent < 0) return refused('NEGATIVE', 'a minimum reclaim must not be negative');
  if (!(fraction >= 0 && fraction <= 1)) return refused('OUT_OF_RANGE', 'a percentage must lie from 0% to 100%');
  if (purpose === 'threshold' && fraction === 1) {
    return refused(
      'ALWAYS_MET',
      'a line at the whole capacity is met by the first byte used; 100% switches the signal off',
    );
  }
  const findings: Finding<LimitCode>[] = [];
  if (shape?.groups?.['exponent'] !== undefined) {
    findings.push(
      doubt('UNUSUAL_NUMBER', `an exponent is unusual here; it stands for ${Number(percent.toPrecision(9))}%`),
    );
  }
  if (purpose === 'threshold' && fraction === 0) {
    findings.push(doubt('NEVER_MET', 'a line at zero is never met; exactly 0% switches the signal off'));
  }
  if (purpose === 'threshold' && percent > LIKELY_USED && isDisk(signal)) {
    findings.push(
      doubt('LOOKS_LIKE_USED_PERCENT', `it acts while less than ${text} is free, not when ${text} is used`),
    );
  }
  return { kind: 'limit', limit: { kind: 'fraction', fraction }, findings };
}

function readQuantity(text: string, purpose: LimitPurpose): LimitReading {
  const quantity = quantityOrNull(text);
  if (quantity === null) return refused('BAD_QUANTITY', quantityAdvice(text));
  if (purpose === 'threshold' && quantity.nano <= 0n) {
    return refused('NOT_POSITIVE', 'a threshold must be positive; exactly 0% switches the signal off');
  }
  if (purpose === 'reclaim' && quantity.nano < 0n) return refused('NEGATIVE', 'a minimum reclaim must not be negative');
  return { kind: 'limit', limit: { kind: 'amount', quantity }, findings: [] };
}

function doubtsAboutAmount(quantity: Quantity, signal: Signal): Finding<LimitCode>[] {
  const { nano, text } = quantity;
  const findings: Finding<LimitCode>[] = [];
  if (nano > 0n && nano < ONE) findings.push(doubt('LESS_THAN_ONE', smallAmountAdvice(text)));
  if (nano >= EXA) findings.push(doubt('ABSURDLY_LARGE', 'no disk has an exabyte'));
  if (SIGNALS[signal].unit === 'bytes' && nano >= ONE && nano < MEBI) {
    findings.push(
      doubt('SUSPICIOUSLY_SMALL', `it stands for ${valueRoundedUp(quantity)} bytes; perhaps Mi, Gi or % was meant`),
    );
  }
  if (SIGNALS[signal].resource === 'inodes' && text.endsWith('i')) {
    findings.push(
      doubt('BYTE_SUFFIX_ON_INODES', `inodes are counted; it stands for ${valueRoundedUp(quantity)} of them`),
    );
  }
  return findings;
}

function quantityOrNull(text: string): Quantity | null {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) return null;
    throw error;
  }
}

/**
 * Reads a 32-bit float by Go's rules (`strconv.ParseFloat`): underscores between digits, hexadecimal numbers with a binary
 * exponent, infinities and NaN in any case. JavaScript's own reader knows none of these and lets blanks pass.
 */
function parseGoFloat(text: string): number | null {
  if (INFINITE.test(text)) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  const plain = /_/.test(text) ? withoutUnderscores(text) : text;
  const value = Math.fround(PLAIN_NUMBER.test(plain) ? Number(plain) : hexadecimal(plain));
  return Number.isFinite(value) ? value : null;
}

function withoutUnderscores(text: string): string {
  const body = text.replace(/^[+-]/, '').replace(/^0x_?/i, '0');
  const misplaced = /^[+-]?0x/i.test(text) ? /(?:^|[^0-9a-f])_|_(?:$|[^0-9a-f])/i : /(?:^|[^0-9])_|_(?:$|[^0-9])/;
  // An underscore must stand between two digits; one that does not is kept, which makes the number unreadable.
  return misplaced.test(body) ? text : text.replaceAll('_', '');
}

const HEXADECIMAL = /^(?<sign>[+-]?)0x(?<whole>[0-9a-f]*)(?:\.(?<part>[0-9a-f]*))?p(?<power>[+-]?[0-9]+)$/i;

function hexadecimal(text: string): number {
  const groups = HEXADECIMAL.exec(text)?.groups;
  if (groups === undefined) return Number.NaN;
  const { sign = '', whole = '', part = '', power = '' } = groups;
  if (whole === '' && part === '') return Number.NaN;
  const mantissa = Number.parseInt(`0${whole}${part}`, 16);
  if (mantissa === 0) return 0;
  return (sign === '-' ? -1 : 1) * mantissa * 2 ** (Number(power) - 4 * part.length);
}

function isOff(text: string): boolean {
  return text === '0%' || text === '100%';
}

function isDisk(signal: Signal): boolean {
  return SIGNALS[signal].filesystem !== null;
}

function refused(code: LimitCode, rule: string): LimitReading {
  return { kind: 'refused', findings: [{ severity: 'error', code, rule }] };
}

function doubt(code: LimitCode, rule: string): Finding<LimitCode> {
  return { severity: 'warning', code, rule };
}
