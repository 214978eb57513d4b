/** What is wrong with a regular expression, and where: the position counts from 1. */
export interface ExpressionFault {
  readonly position: number;
  /** Worded to follow "as". */
  readonly rule: string;
}

/**
 * Checks a regular expression (JavaScript's, with the flag `u`). Beside those that cannot be read it refuses those that can take
 * exponential time on a name that almost fits: they run in the daemon, on a node that is short of something already.
 */
export function expressionFault(text: string): ExpressionFault | null {
  const message = compileFault(text);
  if (message !== null) return { position: faultPosition(text), rule: message };
  const scan = scanOf(text);
  if (scan.nested !== null) {
    const rule = 'a repeated group must hold neither repetitions nor alternatives, which can take for ever';
    return { position: scan.nested, rule };
  }
  if (scan.backReference !== null) {
    return { position: scan.backReference, rule: 'it must not refer back to a group, which can take for ever' };
  }
  return null;
}

/** The engine's words without the expression, which stands in the message anyway. */
function compileFault(text: string): string | null {
  try {
    new RegExp(text, 'u');
    return null;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    const reason = words.slice(words.lastIndexOf(': ') + 2);
    return `it must be a regular expression (${reason.toLowerCase()})`;
  }
}

/**
 * The engine does not say where. The fault lies behind the longest beginning that can be completed to an expression; where all
 * can be, what is missing is the end of what was opened last.
 */
function faultPosition(text: string): number {
  let good = 0;
  for (let length = 1; length <= text.length; length += 1) {
    const scan = scanOf(text.slice(0, length));
    if (compileFault(text.slice(0, length) + scan.completion) === null) good = length;
  }
  if (good < text.length) return good + 1;
  return (scanOf(text).open.at(-1) ?? text.length - 1) + 1;
}

interface Scan {
  /** What closes everything that is open. */
  readonly completion: string;
  /** Where groups and classes that are still open begin, from 0. */
  readonly open: readonly number[];
  /** Positions from 1; null = there is none. */
  readonly nested: number | null;
  readonly backReference: number | null;
}

const QUANTIFIER = /^(?:[*+]|\{\d+(,?)(\d*)\})/;

function scanOf(text: string): Scan {
  const groups: { readonly at: number; isRisky: boolean }[] = [{ at: -1, isRisky: false }];
  let classAt: number | null = null;
  let nested: number | null = null;
  let backReference: number | null = null;
  /** Whether what was just closed was a group that must not be repeated. */
  let closed = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\') {
      if (classAt === null && /^(?:[1-9]|k<)/.test(text.slice(index + 1))) backReference ??= index + 1;
      index += 1;
      closed = false;
      continue;
    }
    if (classAt !== null) {
      if (character === ']') classAt = null;
      closed = false;
      continue;
    }
    const quantifier = QUANTIFIER.exec(text.slice(index));
    if (quantifier !== null && isUnbounded(quantifier)) {
      if (closed) nested ??= index + 1;
      const group = groups.at(-1);
      if (group !== undefined) group.isRisky = true;
      closed = false;
    } else if (character === '[') {
      classAt = index;
      closed = false;
    } else if (character === '(') {
      groups.push({ at: index, isRisky: false });
      closed = false;
    } else if (character === ')' && groups.length > 1) {
      closed = groups.pop()?.isRisky === true;
      const outer = groups.at(-1);
      if (outer !== undefined && closed) outer.isRisky = true;
    } else {
      const group = groups.at(-1);
      if (character === '|' && group !== undefined) group.isRisky = true;
      closed = false;
    }
  }
  const escapes = /(?:^|[^\\])(?:\\\\)*\\$/.test(text) ? '.' : '';
  const open = [...groups.slice(1).map((each) => each.at), ...(classAt === null ? [] : [classAt])];
  const completion = `${escapes}${classAt === null ? '' : ']'}${')'.repeat(groups.length - 1)}`;
  return { completion, open, nested, backReference };
}

/** `{3}` repeats a known number of times; `+`, `*`, `{2,}` and `{1,90}` do not. */
function isUnbounded(quantifier: RegExpExecArray): boolean {
  return quantifier[1] !== '' || quantifier[0] === '*' || quantifier[0] === '+';
}
