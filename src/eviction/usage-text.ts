import type { UsagePart, WriteRate } from './usage.js';

/** Numbers older than this are said to be so, in milliseconds. */
const WORTH_SAYING = 1_000;

/** A usage's sources in brackets, the largest first, or nothing where they are not told apart. */
export function partsText(parts: readonly UsagePart[], amountText: (amount: number) => string): string {
  const text = sourcesText(parts, amountText).slice(2);
  return text === '' ? '' : ` (${text})`;
}

/** The same as a continued list: `: logs 3.0 MiB, layers 12.0 KiB of 8 s ago`. Sources that hold nothing are left out. */
export function sourcesText(parts: readonly UsagePart[], amountText: (amount: number) => string): string {
  const told = parts
    .filter(({ amount }) => amount !== 0)
    .toSorted((a, b) => (b.amount ?? -1) - (a.amount ?? -1))
    .map(({ source, amount, age, isComplete, volumes = [] }) => {
      if (amount === null) return `${source} not known`;
      const old = age !== null && age > WORTH_SAYING ? ` of ${Math.round(age / 1_000)} s ago` : '';
      const [first, ...others] = volumes.filter((each) => each.amount !== 0);
      const named = first === undefined ? '' : ` ${[first, ...others].map(({ name }) => name).join(' + ')}`;
      return `${source}${named} ${isComplete ? '' : 'at least '}${amountText(amount)}${old}`;
    });
  return told.length === 0 ? '' : `: ${told.join(', ')}`;
}

/** A rate for people, such as `95.2 MiB/s`. */
export function rateText({ perSecond }: WriteRate, amountText: (amount: number) => string): string {
  return `${amountText(Math.round(perSecond))}/s`;
}
