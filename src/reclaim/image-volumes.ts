import type { ContainerRecord, RuntimePort } from '../ports/runtime.js';

/** Which images are mounted into containers as volumes. */
export interface ImageVolumes {
  /**
   * The image volumes of these containers; `listed`, if given, is all that there are. Rejects when a container cannot be asked:
   * then nobody knows what is in use.
   */
  of(
    containers: readonly ContainerRecord[],
    signal: AbortSignal,
    listed?: readonly ContainerRecord[],
  ): Promise<MountedImages>;
}

/** Ids or references of images mounted as volumes, with the container's id. */
export type MountedImages = readonly { readonly container: string; readonly reference: string }[];

/** Status calls under way at a time. */
const CONCURRENCY = 8;

/**
 * Image volumes show in ContainerStatus only, at the cost of a call for each container. The mounts of a container never
 * change, so each is asked once in its life. One that is gone by then has none; the kubelet ends its whole pass there.
 */
export function createImageVolumes(runtime: Pick<RuntimePort, 'containerStatus'>): ImageVolumes {
  const known = new Map<string, readonly string[]>();
  return {
    async of(containers, signal, listed = containers) {
      const mounted: MountedImages[number][] = [];
      const unasked: string[] = [];
      const add = (container: string, references: readonly string[]) => {
        if (references.length > 0) mounted.push(...references.map((reference) => ({ container, reference })));
      };
      for (const { id } of containers) {
        const references = known.get(id);
        if (references === undefined) unasked.push(id);
        else add(id, references);
      }
      await forEachBounded(unasked, CONCURRENCY, async (id) => {
        const status = await runtime.containerStatus(id, signal);
        const references = status?.imageVolumes ?? [];
        known.set(id, references);
        add(id, references);
      });
      if (known.size > listed.length) keepOnly(known, listed);
      return mounted;
    },
  };
}

function keepOnly(known: Map<string, unknown>, listed: readonly ContainerRecord[]): void {
  const ids = new Set(listed.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
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
