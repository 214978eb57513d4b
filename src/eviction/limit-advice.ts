import { DurationError, parseDuration } from '../units/duration.js';

/** What to write instead of a limit that cannot be read, or that is probably not meant. Texts follow the word "as". */

const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$/;

/** About a text that ends in `%` and is not a percentage. */
export function percentAdvice(text: string): string {
  const rule = 'what stands before % must be one plain decimal number';
  if (/[;\s<]/.test(text.trim()) && /%.+%$/.test(text)) return `${rule}; separate several entries with commas`;
  const cleaned = text
    .replace(/["'\s=<>]/g, '')
    .replace(/%+$/, '')
    .replace(',', '.');
  return NUMBER.test(cleaned) ? `${rule}; ${cleaned}% can be read` : `${rule}; 10% can be read`;
}

/** About a text that is neither a percentage nor a quantity. */
export function quantityAdvice(text: string): string {
  const rule = 'a limit must be a percentage such as 10% or a quantity such as 1Gi';
  const bare = text.replace(/["'\s]/g, '');
  if (bare === '') return `${rule}; it is empty`;
  if (/^(?:nil|null|none|~|off|false)$/i.test(bare))
    return `${rule}; leave the key out, or switch the signal off with 0%`;
  const near = quantitiesNear(bare);
  return near.length === 0 ? rule : `${rule}; ${near.join(' or ')} can be read`;
}

/** About an amount above zero and below one. */
export function smallAmountAdvice(text: string): string {
  const milli = /^(?<number>[+-]?[0-9.]+)m$/.exec(text)?.groups?.['number'];
  if (milli !== undefined)
    return `m stands for thousandths, so it is less than 1; perhaps ${milli}M or ${milli}Mi was meant`;
  const share = NUMBER.test(text) ? Number((Number(text) * 100).toPrecision(9)) : null;
  return share === null ? 'it is less than 1' : `it is less than 1; perhaps ${share}% was meant`;
}

/** What to write instead of a text that is not a duration; it follows the word "as". */
export function durationAdvice(text: string): string {
  const rule = 'a duration must be numbers with units (ns, us, ms, s, m, h)';
  const bare = text.trim();
  const days = /^(?<days>[0-9]+)\s*d(?:ays?)?$/i.exec(bare)?.groups?.['days'];
  if (days !== undefined) return `${rule}; a day is 24h, so write ${Number(days) * 24}h`;
  if (/^[0-9]+$/.test(bare)) return `${rule}; write ${bare}s for seconds`;
  const units: Readonly<Record<string, string>> = {
    sec: 's',
    secs: 's',
    second: 's',
    seconds: 's',
    min: 'm',
    mins: 'm',
    minute: 'm',
    minutes: 'm',
    hour: 'h',
    hours: 'h',
    hr: 'h',
    hrs: 'h',
  };
  const spelled = bare
    .replace(/\s+/g, '')
    .toLowerCase()
    .replace(/[a-z]+/g, (unit) => units[unit] ?? unit);
  return durationOrNull(spelled) === null ? `${rule}, such as 1m30s` : `${rule}; write ${spelled}`;
}

/** Nanoseconds of a Go duration; null when the text is none. */
export function durationOrNull(text: string): bigint | null {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) return null;
    throw error;
  }
}

/** Readable texts for a number whose suffix was written in the wrong case, with a B for bytes, or with blanks. */
function quantitiesNear(bare: string): string[] {
  if (/^[+-]?[0-9.]+%$/.test(bare)) return [bare];
  const groups = /^(?<number>[+-]?[0-9][0-9.]*)(?<letter>[kmgtpe]?)(?<binary>i?)b?$/i.exec(bare)?.groups;
  if (groups === undefined) return [];
  const { number = '', letter = '', binary = '' } = groups;
  if (letter === '') return binary === '' ? [number] : [];
  const upper = letter.toUpperCase();
  const decimal = `${number}${upper === 'K' ? 'k' : upper}`;
  return binary === '' ? [decimal, `${number}${upper}i`] : [`${number}${upper}i`];
}
