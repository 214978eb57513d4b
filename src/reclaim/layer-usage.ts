import type { Clock } from '../ports/clock.js';
import type { ContainerUsage, RuntimePort } from '../ports/runtime.js';
import type { Milliseconds } from '../units/units.js';
import { TIME_IS_UP } from './time-limit.js';

/**
 * What the runtime says that containers use, by id; empty when it does not say within `limit`. To answer, a runtime asks
 * every shim, and one that hangs must not hold up the relief of a full disk: without sizes reclaim still works, and a pod
 * without numbers counts as unknown.
 */
export async function layerUsage(
  runtime: Pick<RuntimePort, 'listContainerUsage'>,
  clock: Clock,
  limit: Milliseconds,
  abort: AbortSignal,
): Promise<ReadonlyMap<string, ContainerUsage>> {
  const over = new AbortController();
  const answered = new AbortController();
  const asked = runtime.listContainerUsage(AbortSignal.any([over.signal, abort])).catch(() => []);
  const late = clock.sleep(limit, AbortSignal.any([answered.signal, abort])).then(() => {
    if (!answered.signal.aborted) over.abort(TIME_IS_UP);
    return [];
  });
  const usage = await Promise.race([asked, late]);
  over.abort();
  answered.abort();
  const byId = new Map<string, ContainerUsage>();
  for (const each of usage) byId.set(each.id, each);
  return byId;
}
