import * as v from 'valibot';
import { ALL_SIGNALS } from '../../../src/eviction/signal.js';
import { parseDuration } from '../../../src/units/duration.js';

/** Bytes, inodes or a number of things. */
export const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A Go-like duration, in milliseconds. */
export const DURATION = v.pipe(v.string(), v.rawTransform(millisecondsIn));
/** The same with days, never negative. */
export const AGO = v.pipe(
  v.string(),
  v.regex(/^(([0-9]+(\.[0-9]*)?)(ms|s|m|h|d))+$/),
  v.transform((text) => millisecondsOfText(text.replace(/([0-9.]+)d/g, (_, days: string) => `${Number(days) * 24}h`))),
);

export const SIGNAL = v.picklist(ALL_SIGNALS);
export const SIGNAL_TEXTS = v.record(SIGNAL, v.string());
export const LAYOUT = v.picklist(['single', 'imagefs', 'split']);
export const TEXT = v.pipe(v.string(), v.minLength(1));
export const POD_NAME = v.pipe(v.string(), v.regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/));
export const STORAGE = v.strictObject({ 'ephemeral-storage': COUNT });
export const BYTES = v.strictObject({ bytes: COUNT });
export const RANGE = v.strictObject({ min: v.optional(COUNT), max: v.optional(COUNT) });

/** Layout as a scenario names it. */
export type ScenarioLayout = v.InferOutput<typeof LAYOUT>;

function millisecondsIn({ dataset, addIssue, NEVER }: v.RawTransformContext<string>): number {
  try {
    return millisecondsOfText(dataset.value);
  } catch {
    addIssue({ message: `a duration such as 1m30s belongs here: ${dataset.value}` });
    return NEVER;
  }
}

/** A duration text in milliseconds; fractions of one are kept. */
export function millisecondsOfText(text: string): number {
  return Number(parseDuration(text)) / 1e6;
}
