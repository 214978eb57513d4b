import { RuntimeError, type RuntimeIdentity } from '../../ports/runtime.js';
import { LeasesService as leases } from '../../proto/generated/leases.js';
import type { Instant, Milliseconds } from '../../units/units.js';
import type { Connection } from './connection.js';

/** Where containerd's CRI plugin keeps everything; its collector works across all namespaces. */
const NAMESPACE = { 'containerd-namespace': 'k8s.io' };
/** The collector ends a lease at this time by itself: should we die between the two calls, it holds nothing for long. */
const LEASE_MS = 60_000;

/** What making the runtime free at once needs. */
export interface FreeRemovedDeps {
  readonly connection: Connection;
  readonly identify: (signal?: AbortSignal) => Promise<RuntimeIdentity>;
  readonly timeout: Milliseconds;
  readonly now: () => Instant;
}

/**
 * Makes containerd's garbage collector run now and waits until it has: it frees what removed containers held only when it
 * runs, and spends at most a fiftieth of its time on that, so after a run of 250 ms the next one is 12 s away (measured, under
 * load). The one call of its API that does not wait for that is the end of a lease, the same that it uses for an image.
 * Resolves to false where the runtime is another one, or has no such call.
 */
export function freeRemoved({ connection, identify, timeout, now }: FreeRemovedDeps) {
  /** Connections on which it has been found out; another one may be to another runtime. */
  let known: { readonly generation: number; readonly canFree: boolean } | null = null;

  const know = (canFree: boolean): boolean => {
    known = { generation: connection.generation(), canFree };
    return canFree;
  };

  return async (signal?: AbortSignal): Promise<boolean> => {
    const canFree =
      known?.generation === connection.generation()
        ? known.canFree
        : know((await identify(signal)).name === 'containerd');
    if (!canFree) return false;
    const options = { timeout, signal, metadata: NAMESPACE };
    try {
      const labels = { 'containerd.io/gc.expire': new Date(now() + LEASE_MS).toISOString() };
      const { lease } = await connection.unary(leases.create, { id: '', labels }, options);
      await connection.unary(leases.delete, { id: lease?.id ?? '', sync: true }, options);
      return true;
    } catch (error) {
      if (error instanceof RuntimeError && error.kind === 'unimplemented') return know(false);
      throw error;
    }
  };
}
