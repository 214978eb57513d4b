import type { ExpectedCalls } from '../format/expectations.js';
import { fits } from '../world/call-rules.js';
import { type Difference, difference, holds } from './outcome.js';
import type { Check } from './record.js';

/** Where the calls of a step differ from what is expected. */
export const checkCalls: Check<ExpectedCalls> = (path, expected, { journal }) => {
  const { texts } = journal;
  const { include = [], exclude = [], only, order, count = {}, concurrency } = expected;
  const missing = include.filter((pattern) => !texts.some((text) => fits(pattern, text)));
  const forbidden = texts.filter((text) => exclude.some((pattern) => fits(pattern, text)));
  return [
    ...holds(missing.length === 0, `${path}.include`, missing, texts),
    ...holds(forbidden.length === 0, `${path}.exclude`, exclude, forbidden),
    ...(only === undefined ? [] : checkOnly(`${path}.only`, only, texts)),
    ...(order === undefined ? [] : holds(isInOrder(order, texts), `${path}.order`, order, texts)),
    ...Object.entries(count).flatMap(([kind, { min = 0, max = Number.POSITIVE_INFINITY }]) => {
      const many = journal.calls.filter((each) => each.kind === kind).length;
      return holds(many >= min && many <= max, `${path}.count.${kind}`, { min, max }, many);
    }),
    ...(concurrency === undefined
      ? []
      : holds(journal.mostAtOnce <= concurrency.max, `${path}.concurrency`, concurrency.max, journal.mostAtOnce)),
  ];
};

/** Of each kind that is named exactly these, each at least once; other kinds are free. */
function checkOnly(path: string, only: readonly string[], texts: readonly string[]): readonly Difference[] {
  const kinds = new Set(only.map(kindOf));
  const made = texts.filter((text) => kinds.has(kindOf(text)));
  const missing = only.filter((pattern) => !made.some((text) => fits(pattern, text)));
  const extra = made.filter((text) => !only.some((pattern) => fits(pattern, text)));
  return missing.length === 0 && extra.length === 0 ? [] : [difference(path, only, made)];
}

function kindOf(call: string): string {
  return call.split(':')[0] ?? call;
}

/** Whether calls came in an order; others may lie between. */
function isInOrder(order: readonly string[], texts: readonly string[]): boolean {
  let at = 0;
  for (const text of texts) {
    const wanted = order[at];
    if (wanted !== undefined && fits(wanted, text)) at += 1;
  }
  return at === order.length;
}
