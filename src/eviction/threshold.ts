import type { Quantity } from '../units/quantity.js';
import type { Milliseconds } from '../units/units.js';
import type { Signal } from './signal.js';

/**
 * Where a threshold or a minimum reclaim lies: an amount, or a fraction of the capacity.
 * Mirrors the kubelet's `ThresholdValue`, in which only the topmost non-zero field counts.
 */
export type Limit =
  | { readonly kind: 'amount'; readonly quantity: Quantity }
  /** `fraction` is the nearest 32-bit float, as in the kubelet: 10 % is `Math.fround(Math.fround(10) / 100)`. */
  | { readonly kind: 'fraction'; readonly fraction: number };

/** Hard thresholds act at once; soft ones when they have been met for `grace`. A grace of zero makes a threshold hard. */
export type Urgency = { readonly kind: 'hard' } | { readonly kind: 'soft'; readonly grace: Milliseconds };

/** Names a threshold for the life of a configuration: signal, urgency and position, such as `nodefs.available/hard/1`. */
export type ThresholdId = string;

/** One configured threshold. It is met while the available amount is strictly below `limit`. Mirrors `Threshold` in Go. */
export interface Threshold {
  readonly id: ThresholdId;
  readonly signal: Signal;
  readonly limit: Limit;
  readonly urgency: Urgency;
  /** How much above the line must be free before the threshold counts as cleared; null = nothing. */
  readonly minReclaim: Limit | null;
  /** Set on a copy made for containerfs: it says nothing that its original on the same disk does not say. */
  readonly isDerived?: true;
}
