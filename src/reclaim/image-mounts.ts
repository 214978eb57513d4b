import { PortError } from '../ports/port-error.js';
import type { RuntimePort } from '../ports/runtime.js';
import { forEachBounded, type ImageVolumes } from './image-volumes.js';

/** Status calls under way at a time. */
const CONCURRENCY = 8;

/**
 * Image volumes as the kubelet looks for them: every container is asked in every pass, dead ones included, and one that cannot
 * be asked or has gone since ends the pass.
 */
export function askEveryContainer(runtime: Pick<RuntimePort, 'containerStatus'>): ImageVolumes {
  return {
    async of(containers, signal) {
      const found = new Map<string, readonly string[]>();
      await forEachBounded(containers, CONCURRENCY, async ({ id }) => {
        const status = await runtime.containerStatus(id, signal);
        if (status === null) {
          throw new PortError(`Cannot tell which images a container mounts as it must still be there: ${id}`);
        }
        found.set(id, status.imageVolumes);
      });
      return containers.flatMap(({ id }) => (found.get(id) ?? []).map((reference) => ({ container: id, reference })));
    },
  };
}
