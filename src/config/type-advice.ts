import { durationOrNull } from '../eviction/limit-advice.js';
import type { Path, TypeTree } from './type-tree.js';

/** What belongs in a place and what to write instead of what stands there; it follows the word "as". */
export function typeAdvice(path: Path, type: TypeTree, value: unknown): string {
  if (typeof type !== 'string') {
    if (Array.isArray(type)) return 'a list belongs here, such as [a, b], or [] for none';
    if (!Object.hasOwn(type, '*')) return `a map with the keys ${Object.keys(type).join(', ')} belongs here`;
    const sample = path[0] === 'evictionSoftGracePeriod' ? '1m30s' : '10%';
    return `a map belongs here, one entry a line such as nodefs.available: ${sample}, or {} for none`;
  }
  switch (type) {
    case 'bool':
      return 'true or false belongs here, without quotes';
    case 'int32':
    case 'int64':
    case 'uint32':
      return `a whole number belongs here${integerHint(value)}`;
    case 'duration':
      return durationRule(value);
    case 'string':
      return path[0] === 'evictionSoftGracePeriod' ? durationRule(value) : textRule(path, value);
    default:
      return `a value of type ${type} belongs here`;
  }
}

/** A value as it is shown in messages. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  // JSON has no word for infinity, and an alias within its own anchor has no end.
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return 'a value that contains itself';
  }
}

function integerHint(value: unknown): string {
  if (typeof value !== 'string') return '';
  const bare = value.replace(/%$/, '');
  if (/^[+-]?[0-9]+$/.test(bare)) return `; write ${bare} without quotes or sign`;
  const nanoseconds = durationOrNull(value);
  return nanoseconds === null ? '' : `, of seconds and without a unit; write ${nanoseconds / 1_000_000_000n}`;
}

function durationRule(value: unknown): string {
  const hint = typeof value === 'number' ? `; write ${value}s for seconds` : '';
  return `a duration belongs here, a number with its unit such as 90s or 5m${hint}`;
}

function textRule(path: Path, value: unknown): string {
  if (value !== null && typeof value === 'object') {
    const [inner] = Object.keys(value);
    const flat = inner === undefined ? '' : `; the signal is one key, so write ${path.at(-1)}.${inner}: 10%`;
    return `text belongs here${flat}`;
  }
  if (typeof value !== 'number') return 'text belongs here, such as 10% or 1Gi';
  if (value > 0 && value < 1) return `text belongs here; write ${Number((value * 100).toPrecision(9))}% for this share`;
  const percent = value <= 100 ? `${value}% for a percentage, or ` : '';
  return `text belongs here; write ${percent}"${value}" in quotes for an amount`;
}
