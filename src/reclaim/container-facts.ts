import type { ContainerFacts } from '../gc/plan-entries.js';
import type { Clock } from '../ports/clock.js';
import type { LogFilesPort } from '../ports/log-files.js';
import type { RuntimePort } from '../ports/runtime.js';
import { type Bytes, bytes, type Milliseconds } from '../units/units.js';
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
  limit: Milliseconds,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ContainerFacts>> {
  const usage = await layerUsage(runtime, clock, limit, signal);
  const facts = new Map<string, ContainerFacts>();
  await forEachBounded(ids, CONCURRENCY, async (id) => {
    const status = await runtime.containerStatus(id, signal).catch(() => null);
    facts.set(id, {
      layer: usage.get(id)?.writableLayer?.used ?? null,
      logs: status === null ? null : await logBytes(logFiles, status.logPath).catch(() => null),
      finishedAt: status?.finishedAt ?? null,
    });
  });
  return facts;
}

/** A log and every file beside it whose name begins with its name: what a removal takes. */
async function logBytes(logFiles: Pick<LogFilesPort, 'list' | 'size'>, path: string): Promise<Bytes> {
  if (path === '') return bytes(0);
  const slash = path.lastIndexOf('/');
  const [directory, name] = [path.slice(0, slash), path.slice(slash + 1)];
  let sum = 0;
  for (const each of (await logFiles.list(directory)) ?? []) {
    if (each.startsWith(name)) sum += (await logFiles.size(`${directory}/${each}`)) ?? 0;
  }
  return bytes(sum);
}
