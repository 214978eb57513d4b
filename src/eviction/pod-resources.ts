import type { Quantity } from '../units/quantity.js';
import type { Amounts, ContainerSpec, PodSpec } from './pod-spec.js';
import type { Resource } from './signal.js';

const NANO = 1_000_000_000n;

/**
 * What a pod asks for of a resource, as a whole, in bytes; fractions of a byte are kept. Mirrors `GetResourceRequestQuantity`:
 * the sum of containers and sidecars, at least what each init container needs beside the sidecars that were started before
 * it, and the overhead where that is not zero. Once anything is set for the pod as a whole, containers do not count, for no
 * resource. Inodes and processes cannot be asked for.
 */
export function podRequest(spec: PodSpec, resource: Resource): number {
  if (resource === 'inodes' || resource === 'pids') return 0;
  const own = hasPodLevelResources(spec)
    ? (spec.podRequests[resource]?.nano ?? 0n)
    : (aggregate(spec.containers, ({ requests }) => requests[resource]) ?? 0n);
  return own === 0n ? 0 : inUnits(own + (spec.overhead[resource]?.nano ?? 0n));
}

/**
 * The limit that containers put on a pod's use of a resource together, in bytes; null when none of them has one. A limit of
 * zero is one. Mirrors `PodLimits`.
 */
export function podLimit(spec: PodSpec, resource: 'ephemeral-storage'): number | null {
  const own = aggregate(spec.containers, ({ limits }) => limits[resource]);
  return own === null ? null : inUnits(own + (spec.overhead[resource]?.nano ?? 0n));
}

/** Whether anything is set for the pod as a whole. Only CPU, memory and huge pages can be. */
export function hasPodLevelResources(spec: PodSpec): boolean {
  return [spec.podRequests, spec.podLimits].some((amounts) => Object.keys(amounts).some(canBeSetForPods));
}

/** The amount as a plain number. Whole numbers below 2^53 come out exactly. */
export function inUnits(nano: bigint): number {
  return Number(nano / NANO) + Number(nano % NANO) / Number(NANO);
}

/** Whether amounts name CPU or memory with anything above zero, which is what makes a quality of service. */
export function asksForSomething(amounts: Amounts): boolean {
  return ['cpu', 'memory'].some((name) => (amounts[name]?.nano ?? 0n) > 0n);
}

function canBeSetForPods(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function aggregate(
  containers: readonly ContainerSpec[],
  amountOf: (container: ContainerSpec) => Quantity | undefined,
): bigint | null {
  let running: bigint | null = null;
  let sidecars: bigint | null = null;
  let starting: bigint | null = null;
  for (const container of containers) {
    const amount = amountOf(container)?.nano ?? null;
    switch (container.kind) {
      case 'regular':
        running = sum(running, amount);
        break;
      case 'sidecar':
        running = sum(running, amount);
        sidecars = sum(sidecars, amount);
        starting = larger(starting, sidecars);
        break;
      case 'init':
        starting = larger(starting, sum(sidecars, amount));
        break;
      case 'ephemeral':
        break;
    }
  }
  return larger(running, starting);
}

function sum(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : a + (b ?? 0n);
}

function larger(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}
