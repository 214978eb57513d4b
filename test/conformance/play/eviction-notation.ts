import * as v from 'valibot';
import { type LayoutQuirk, layoutOfProbe } from '../../../src/eviction/kubelet-quirks.js';
import type { FsLayout } from '../../../src/eviction/layout.js';
import { inUnits } from '../../../src/eviction/pod-resources.js';
import { ALL_SIGNALS } from '../../../src/eviction/signal.js';
import type { Limit, Threshold } from '../../../src/eviction/threshold.js';
import { parseQuantity, type Quantity } from '../../../src/units/quantity.js';
import { type Instant, instant, milliseconds } from '../../../src/units/units.js';
import { CASE } from '../case.js';

/** What every case about evictions says of itself beside its subject. */
export const EVICTION_CASE = {
  ...CASE,
  test: v.optional(v.string()),
  quirk: v.optional(v.literal(true)),
  tie: v.optional(v.boolean()),
};

/** A quantity as text, or a plain number of bytes or things. */
export const AMOUNT = v.union([v.string(), v.number()]);
export const SIGNAL = v.picklist(ALL_SIGNALS);
export const RESOURCE = v.picklist(['memory', 'ephemeral-storage', 'inodes', 'pids']);
export const CONDITION = v.picklist(['MemoryPressure', 'DiskPressure', 'PIDPressure']);
export const NAMES = v.array(v.string());
export const LAYOUT = v.strictObject({ dedicatedImageFs: v.boolean(), splitContainerFs: v.boolean() });
export const LIMIT = v.union([v.strictObject({ quantity: AMOUNT }), v.strictObject({ fraction: v.number() })]);

/** An entry without operator and value is inert: it is never met. */
export const THRESHOLD = v.strictObject({
  signal: SIGNAL,
  operator: v.picklist(['LessThan', '']),
  value: v.nullable(LIMIT),
  gracePeriodSeconds: v.number(),
  minReclaim: v.nullable(LIMIT),
});
export type WrittenThreshold = v.InferOutput<typeof THRESHOLD>;

/** The exact quantity. */
export function quantityOf(amount: string | number): Quantity {
  return parseQuantity(String(amount));
}

/** The amount as a plain number. */
export function numberOf(amount: string | number): number {
  return typeof amount === 'number' ? amount : inUnits(parseQuantity(amount).nano);
}

/** Seconds of the cases' imaginary clock. */
export function atSecond(seconds: number): Instant {
  return instant(seconds * 1_000);
}

/** A time that may be missing. */
export function timeOf(seconds: number | null | undefined): Instant | null {
  return seconds === null || seconds === undefined ? null : atSecond(seconds);
}

/** Fractions are 32-bit floats upstream. */
export function limitOf(written: v.InferOutput<typeof LIMIT>): Limit {
  return 'fraction' in written
    ? { kind: 'fraction', fraction: Math.fround(written.fraction) }
    : { kind: 'amount', quantity: quantityOf(written.quantity) };
}

/** A threshold of the product; `position` makes it unlike its equals. A value of null is that of cases in which none counts. */
export function thresholdOf(written: WrittenThreshold, position = 0): Threshold {
  const { signal, value, gracePeriodSeconds, minReclaim } = written;
  const kind = gracePeriodSeconds === 0 ? 'hard' : 'soft';
  return {
    id: `${signal}/${kind}/${position}`,
    signal,
    limit: limitOf(value ?? { quantity: '1' }),
    urgency: kind === 'hard' ? { kind } : { kind, grace: milliseconds(gracePeriodSeconds * 1_000) },
    minReclaim: minReclaim === null ? null : limitOf(minReclaim),
  };
}

/** Two written thresholds are compared by this: amounts exactly, fractions to the sixth decimal, as the cases ask. */
export function summaryOf({ signal, limit, urgency, minReclaim }: Threshold): string {
  const grace = urgency.kind === 'hard' ? 'hard' : `soft ${Math.round(urgency.grace * 1e6)}ns`;
  return `${signal} < ${limitSummary(limit)}, ${grace}, + ${minReclaim === null ? 'nothing' : limitSummary(minReclaim)}`;
}

function limitSummary(limit: Limit): string {
  return limit.kind === 'amount' ? `${limit.quantity.nano}n` : limit.fraction.toFixed(6);
}

/** What the kubelet makes of a layout that was told without a fault. */
export function layoutOf(written: v.InferOutput<typeof LAYOUT>): { layout: FsLayout; quirk: LayoutQuirk | null } {
  return layoutOfProbe(written, true);
}
