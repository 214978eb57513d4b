import { type AskedPressure } from '../eviction/asked-pressure.js';
import { readStrictLimit } from '../eviction/limit-text.js';
import { ALL_SIGNALS, isSignal, SIGNALS, type Signal } from '../eviction/signal.js';

/** What a command asks to have free, as it was written. */
export interface TargetOptions {
  readonly signal: string | null;
  readonly target: string | null;
}

/** What is asked for, or what is wrong with it. */
export type TargetReading =
  | { readonly kind: 'asked'; readonly asked: AskedPressure }
  | { readonly kind: 'refused'; readonly message: string };

/** Reads `--signal` and `--target`. An amount is bytes, or inodes where the signal counts these. */
export function readTarget({ signal, target }: TargetOptions): TargetReading {
  if (signal !== null && (!isSignal(signal) || SIGNALS[signal].filesystem === null)) {
    const known = ALL_SIGNALS.filter((each) => SIGNALS[each].filesystem !== null).join(', ');
    return { kind: 'refused', message: `Cannot use --signal as it must be one of ${known}: ${signal}` };
  }
  const named: Signal | null = signal;
  if (target === null || target === 'all') return { kind: 'asked', asked: { signal: named, target } };
  const reading = readStrictLimit(target, 'threshold', named ?? 'nodefs.available');
  if (reading.kind === 'limit') return { kind: 'asked', asked: { signal: named, target: reading.limit } };
  const rule =
    reading.kind === 'off'
      ? 'it must be an amount or a percentage between 0% and 100%, or all'
      : reading.findings.map((each) => each.rule).join('; ');
  return { kind: 'refused', message: `Cannot use --target as ${rule}: ${target}` };
}
