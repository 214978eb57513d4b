import type { ContainerRecord, RuntimePort } from '../ports/runtime.js';

/** Which images are mounted into containers as volumes. */
export interface ImageVolumes {
  /** The image volumes of these containers. Rejects when a container cannot be asked: then nobody knows what is in use. */
  of(
    containers: readonly ContainerRecord[],
    signal: AbortSignal,
  ): Promise<readonly { readonly container: string; readonly reference: string }[]>;
}

/** Status calls under way at a time. */
const CONCURRENCY = 8;

/**
 * Image volumes show in ContainerStatus only, at the cost of a call for each container. The mounts of a container never
 * change, so each is asked once in its life. One that is gone by then has none; the kubelet ends its whole pass there.
 */
export function createImageVolumes(runtime: Pick<RuntimePort, 'containerStatus'>): ImageVolumes {
  const known = new Map<string, readonly string[]>();
  return {
    async of(containers, signal) {
      const listed = new Set(containers.map((each) => each.id));
      for (const id of known.keys()) if (!listed.has(id)) known.delete(id);
      const unasked = containers.filter((each) => !known.has(each.id)).map((each) => each.id);
      await forEachBounded(unasked, CONCURRENCY, async (id) => {
        const status = await runtime.containerStatus(id, signal);
        known.set(id, status?.imageVolumes ?? []);
      });
      return containers.flatMap(({ id }) => (known.get(id) ?? []).map((reference) => ({ container: id, reference })));
    },
  };
}

/** Runs `action` for each item, at most `limit` at a time, in order of the list; rejects with the first failure. */
export async function forEachBounded<Item>(
  items: readonly Item[],
  limit: number,
  action: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: Math.min(limit, items.length) }, async () => {
      for (const item of queue) await action(item);
    }),
  );
}
