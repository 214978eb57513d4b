import type { Measure } from '../gc/image-content.js';
import type { ContainerFacts } from '../gc/plan-entries.js';
import type { Clock } from '../ports/clock.js';
import type { LogFilesPort } from '../ports/log-files.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { Milliseconds } from '../units/units.js';
import { forEachBounded } from './image-volumes.js';
import { layerUsage } from './layer-usage.js';

/** Questions under way at a time. */
const CONCURRENCY = 8;

/** What telling the sizes of containers needs from the world. */
export interface ContainerFactsDeps {
  readonly runtime: Pick<RuntimePort, 'listContainerUsage' | 'containerStatus'>;
  readonly logFiles: Pick<LogFilesPort, 'list' | 'size'>;
  readonly clock: Clock;
}

/** Sizes and ends of these containers. What cannot be told is null; never rejects. */
export async function containerFacts(
  { runtime, logFiles, clock }: ContainerFactsDeps,
  ids: readonly string[],
  measure: Measure,
  limit: Milliseconds,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ContainerFacts>> {
  const usage = await layerUsage(runtime, clock, limit, signal);
  const facts = new Map<string, ContainerFacts>();
  await forEachBounded(ids, CONCURRENCY, async (id) => {
    const status = await runtime.containerStatus(id, signal).catch(() => null);
    const layer = usage.get(id)?.writableLayer ?? null;
    facts.set(id, {
      claimed: layer?.used ?? null,
      layer: (measure === 'bytes' ? layer?.used : layer?.inodes) ?? null,
      logs: status === null ? null : await logsOf(logFiles, status.logPath, measure).catch(() => null),
      finishedAt: status?.finishedAt ?? null,
    });
  });
  return facts;
}

/** A log and every file beside it whose name begins with its name: what a removal takes. */
async function logsOf(logFiles: Pick<LogFilesPort, 'list' | 'size'>, path: string, measure: Measure): Promise<number> {
  if (path === '') return 0;
  const slash = path.lastIndexOf('/');
  const [directory, name] = [path.slice(0, slash), path.slice(slash + 1)];
  let sum = 0;
  for (const each of (await logFiles.list(directory)) ?? []) {
    if (!each.startsWith(name)) continue;
    sum += measure === 'inodes' ? 1 : ((await logFiles.size(`${directory}/${each}`)) ?? 0);
  }
  return sum;
}
