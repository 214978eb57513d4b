import type { Amounts, ContainerSpec, PodSpec } from '../../src/eviction/pod-spec.js';
import type { PodStats } from '../../src/eviction/pod-stats.js';
import { parseQuantity } from '../../src/units/quantity.js';

/** Amounts by resource: `amounts({ memory: '1Gi' })`. */
export function amounts(texts: Readonly<Record<string, string>> = {}): Amounts {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, parseQuantity(text)]));
}

/** A regular container without requests and limits, with some of it replaced. */
export function containerSpec(name: string, changes: Partial<ContainerSpec> = {}): ContainerSpec {
  return { name, kind: 'regular', requests: {}, limits: {}, ...changes };
}

/** A pod with one such container, with some of it replaced. */
export function podSpec(changes: Partial<PodSpec> = {}): PodSpec {
  return {
    containers: [containerSpec('main')],
    podRequests: {},
    podLimits: {},
    overhead: {},
    volumes: [],
    tolerations: [],
    ...changes,
  };
}

/** A pod of which nothing is known but what is told. */
export function podStats(changes: Partial<PodStats> = {}): PodStats {
  return { memoryWorkingSet: null, processes: null, ephemeralStorage: null, containers: [], volumes: [], ...changes };
}
