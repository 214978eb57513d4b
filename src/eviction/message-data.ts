import { formatQuantity, type Quantity, quantityOf } from '../units/quantity.js';
import { lineOf } from './line.js';
import type { Observations } from './observe.js';
import { hasPodLevelResources } from './pod-resources.js';
import type { ContainerSpec, PodSpec } from './pod-spec.js';
import type { ContainerStats, PodStats } from './pod-stats.js';
import { type Resource, SIGNALS } from './signal.js';
import type { Threshold } from './threshold.js';

/** Who uses more than was asked for, in canonical quantities. */
export interface Offender {
  readonly name: string;
  readonly usage: string;
  readonly request: string;
}

/** What an eviction's message says, apart from its words; and the annotations of its event. */
export interface EvictionMessageData {
  readonly starvedResource: Resource;
  /** The line and what is available, of the first threshold that has both; null when none has. */
  readonly thresholdLine: { readonly quantity: string; readonly available: string } | null;
  /** The pod as a whole, where memory was asked for it as a whole: named whether it is over that or not. */
  readonly pod: Offender | null;
  /** In the order of the stats. */
  readonly containers: readonly Offender[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** The pod that an eviction is told of. */
export interface ToldPod {
  readonly name: string;
  /** Null when nobody knows what it asked for. */
  readonly spec: PodSpec | null;
  readonly stats: PodStats | null;
}

/**
 * Gathers what an eviction's message and annotations carry. Mirrors `evictionMessage`: containers are named for memory and for
 * storage only, and for storage only when layer and logs are both known; nothing of a pod without stats is named.
 */
export function evictionMessageData(
  starvedResource: Resource,
  pod: ToldPod,
  thresholds: readonly Threshold[],
  observations: Observations,
): EvictionMessageData {
  const thresholdLine = lineTold(starvedResource, thresholds, observations);
  const { spec, stats } = pod;
  if (stats === null) return { starvedResource, thresholdLine, pod: null, containers: [], annotations: {} };
  const whole = spec === null ? null : podPart(starvedResource, pod.name, spec, stats);
  const containers = stats.containers.flatMap((each) => offenderOf(each, spec, starvedResource) ?? []);
  return {
    starvedResource,
    thresholdLine,
    pod: whole,
    containers,
    annotations: {
      offending_containers: containers.map(({ name }) => name).join(','),
      offending_containers_usage: containers.map(({ usage }) => usage).join(','),
      starved_resource: starvedResource,
      ...(whole === null ? {} : { offending_pod: whole.name, offending_pod_usage: whole.usage }),
    },
  };
}

function lineTold(
  resource: Resource,
  thresholds: readonly Threshold[],
  observations: Observations,
): EvictionMessageData['thresholdLine'] {
  for (const threshold of thresholds) {
    const observation = observations.get(threshold.signal);
    const { resource: its, unit } = SIGNALS[threshold.signal];
    if (its !== resource || observation === undefined) continue;
    const { limit } = threshold;
    return {
      // A percentage is resolved into a binary amount, whatever it counts.
      quantity:
        limit.kind === 'amount'
          ? canonical(limit.quantity)
          : formatQuantity(BigInt(lineOf({ limit, minReclaim: null }, observation.capacity).line), 'binary'),
      available: formatQuantity(wholeOf(observation.available), unit === 'bytes' ? 'binary' : 'decimal'),
    };
  }
  return null;
}

/** A quantity in its own form. One with a fraction is told as it was written. */
function canonical({ nano, text }: Quantity): string {
  if (nano % 1_000_000_000n !== 0n) return text;
  return quantityOf(nano / 1_000_000_000n, /[KMGTPE]i$/.test(text) ? 'binary' : 'decimal').text;
}

function podPart(resource: Resource, name: string, spec: PodSpec, stats: PodStats): Offender | null {
  const request = spec.podRequests['memory'];
  if (resource !== 'memory' || !hasPodLevelResources(spec) || request === undefined) return null;
  if (stats.memoryWorkingSet === null) return null;
  return { name, usage: bytesText(stats.memoryWorkingSet), request: canonical(request) };
}

function offenderOf(stats: ContainerStats, spec: PodSpec | null, resource: Resource): Offender | null {
  const container = spec?.containers.find(({ name }) => name === stats.name);
  const usage = usageToTell(stats, resource);
  if (container === undefined || container.kind === 'ephemeral' || usage === null) return null;
  const request = requestOf(container, resource);
  if (request !== undefined && wholeOf(usage) * 1_000_000_000n <= request.nano) return null;
  if (request === undefined && usage === 0) return null;
  return { name: stats.name, usage: bytesText(usage), request: request === undefined ? '0' : canonical(request) };
}

function usageToTell({ memoryWorkingSet, rootfs, logs }: ContainerStats, resource: Resource): number | null {
  switch (resource) {
    case 'memory':
      return memoryWorkingSet;
    case 'ephemeral-storage': {
      const [layer, log] = [rootfs?.bytes ?? null, logs?.bytes ?? null];
      return layer === null || log === null ? null : layer + log;
    }
    case 'inodes':
    case 'pids':
      return null;
  }
}

function requestOf({ requests }: ContainerSpec, resource: Resource): Quantity | undefined {
  return requests[resource];
}

function bytesText(value: number): string {
  return formatQuantity(wholeOf(value), 'binary');
}

/** Amounts are whole, except in numbers that somebody wrote by hand: those are rounded up, as quantities are. */
function wholeOf(value: number): bigint {
  return BigInt(Math.ceil(value));
}
