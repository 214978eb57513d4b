import { lineOf } from '../../../src/eviction/line.js';
import type { Signal } from '../../../src/eviction/signal.js';
import type { SignalView } from '../format/expectations.js';
import { type Difference, difference, holds, same } from './outcome.js';
import type { Check, StepRecord } from './record.js';

/** Where the first look of a pass differs from what is expected. */
export const checkSignals: Check<Partial<Record<Signal, SignalView>>> = (path, expected, record) => {
  const first = record.told.events.find((event) => event.kind === 'observed');
  if (first?.kind !== 'observed') return [difference(path, expected, 'no look was told')];
  return (Object.keys(expected) as Signal[]).flatMap((signal) => {
    const view = expected[signal];
    return view === undefined ? [] : checkView(`${path}[${signal}]`, signal, view, record);
  });

  function checkView(at: string, signal: Signal, view: SignalView, { thresholds, state }: StepRecord) {
    const seen = first?.kind === 'observed' ? first.sight.observations.get(signal) : undefined;
    const isUnknown =
      seen === undefined && first?.kind === 'observed' && first.sight.unknown.some((each) => each.signal === signal);
    if (view.unknown === true) return holds(isUnknown && state.unknown.has(signal), `${at}.unknown`, true, seen);
    if (seen === undefined) return [difference(at, view, 'unknown')];
    // A signal may have a hard and a soft line: what is expected is of one of them.
    const own = thresholds.filter((each) => each.signal === signal);
    const judged = own.map((each) => {
      const { line } = lineOf(each, seen.capacity);
      return { threshold: line, met: seen.available < line && !state.setAside.has(each.id) };
    });
    const ofThat = judged.filter(({ threshold }) => view.threshold === undefined || threshold === view.threshold);
    const differences: readonly Difference[] = [
      ...(view.unknown === false ? same(`${at}.unknown`, false, isUnknown) : []),
      ...(view.available === undefined ? [] : same(`${at}.available`, view.available, seen.available)),
      ...(view.threshold === undefined ? [] : holds(ofThat.length > 0, `${at}.threshold`, view.threshold, judged)),
      ...(view.met === undefined
        ? []
        : same(
            `${at}.met`,
            view.met,
            ofThat.some(({ met }) => met),
          )),
    ];
    return differences;
  }
};
