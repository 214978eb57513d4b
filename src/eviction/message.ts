import { limitText } from './limit-text.js';
import type { Line } from './line.js';
import type { StorageViolation } from './local-storage.js';
import type { Observation } from './observe.js';
import type { Standing } from './rank.js';
import { SIGNALS, type Signal } from './signal.js';
import type { Threshold } from './threshold.js';
import { isLowerBound } from './usage.js';
import { partsText, rateText } from './usage-text.js';

/**
 * Why a pod is evicted, in one sentence for people: what ran out, where the line lies, what the pod uses and why it comes
 * first. The kubelet's sentence leaves volumes and the ranking out.
 */
export function evictionMessage(
  threshold: Threshold,
  observation: Observation,
  { line, target }: Line,
  victim: Standing,
  place: { readonly rank: number; readonly of: number },
): string {
  const { resource } = SIGNALS[threshold.signal];
  const use =
    victim.usage === null
      ? 'what the pod uses is not known'
      : `the pod uses ${useText(threshold.signal, victim.usage, victim)}${requestText(threshold.signal, victim)}`;
  // Inside the reclaim band the line itself is no longer missed.
  const limit = limitText(threshold.limit);
  const lineText =
    observation.available < line
      ? `below ${limit} = ${exactText(threshold.signal, line)}`
      : `not back at ${exactText(threshold.signal, target)} (the line of ${limit}, and the minimum reclaim)`;
  const priority = victim.priority === null ? 'priority not known' : `priority ${victim.priority}`;
  return (
    `The node is low on ${resource}: ${threshold.signal} is ${exactText(threshold.signal, observation.available)}, ` +
    `${lineText}; ${use}${writesText(threshold.signal, victim)} (${priority}; ranked ${place.rank} of ${place.of})`
  );
}

/** Which limit of its own a pod is over, for people and for its status. */
export function storageMessage({ kind, subject, used, limit }: StorageViolation): string {
  const numbers = `${exactBytes(used)} used, more than its limit of ${quantityText(limit)}`;
  switch (kind) {
    case 'emptyDirLimit':
      return `volume ${subject ?? ''}: ${numbers}`;
    case 'podLimit':
      return `ephemeral storage of all containers: ${numbers}`;
    case 'containerLimit':
      return `ephemeral storage of container ${subject ?? ''}: ${numbers}`;
  }
}

/** The sum with its sources, the largest first: volumes and logs fill disks as often as layers do. */
function useText(signal: Signal, usage: number, { parts = [] }: Standing): string {
  const amount = (value: number) => exactText(signal, value);
  return `${isLowerBound(parts) ? 'at least ' : ''}${amount(usage)}${partsText(parts, amount)}`;
}

function writesText(signal: Signal, { writes, isFilling }: Standing): string {
  if (writes === null || writes === undefined) return '';
  const rate = rateText(writes, (value) => amountText(signal, value));
  return isFilling === true ? `; it fills the disk now, by ${rate}` : `, it writes ${rate}`;
}

/** Inodes and processes cannot be requested: a request of bytes beside them would mislead. */
function requestText(signal: Signal, victim: Standing): string {
  if (SIGNALS[signal].unit === 'count') return '';
  if (victim.request === null) return ', its request is not known';
  return `, its request is ${quantityText(victim.request)}`;
}

/** An amount with its unit, for people: bytes in binary units with one decimal, counts plain. */
export function amountText(signal: Signal, amount: number): string {
  return SIGNALS[signal].unit === 'bytes' ? bytesText(amount) : `${amount}`;
}

/** A measured amount that can be searched for: the plain number, and for bytes what a person reads. */
function exactText(signal: Signal, amount: number): string {
  return SIGNALS[signal].unit === 'bytes' ? exactBytes(amount) : `${amount}`;
}

function exactBytes(value: number): string {
  return Math.abs(value) < 1024 ? `${value} B` : `${value} B (${bytesText(value)})`;
}

/** An amount as the author of a pod would have written it: the shortest text that is exactly it. */
export function quantityText(amount: number): string {
  const texts = [...BINARY, ...DECIMAL].flatMap(([suffix, unit]) =>
    amount !== 0 && amount % unit === 0 ? [`${amount / unit}${suffix}`] : [],
  );
  return texts.reduce((best, text) => (text.length < best.length ? text : best), `${amount}`);
}

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'].map((suffix, index) => [suffix, 1024 ** (index + 1)] as const);
const DECIMAL = ['k', 'M', 'G', 'T', 'P'].map((suffix, index) => [suffix, 1000 ** (index + 1)] as const);

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Bytes for people, such as `1.5 GiB`. */
export function bytesText(value: number): string {
  const magnitude = Math.abs(value) < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.abs(value)) / 10));
  const scaled = value / 1024 ** magnitude;
  return `${magnitude === 0 ? scaled : scaled.toFixed(1)} ${UNITS[magnitude] ?? 'B'}`;
}
