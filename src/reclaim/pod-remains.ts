import type { EvictionEvent, KillOutcome, RemovalSubject } from '../eviction/event.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort } from '../ports/files.js';
import type { PodRecord } from '../ports/pods.js';
import {
  type ContainerRecord,
  RuntimeError,
  type RuntimeErrorKind,
  type RuntimePort,
  type SandboxRecord,
} from '../ports/runtime.js';
import { elapsed } from '../units/units.js';
import { messageOf, toError } from './removal.js';

/** What the removal of a pod's remains needs from the world. */
export interface RemainsDeps {
  readonly runtime: Pick<RuntimePort, 'removeContainer' | 'removeSandbox'>;
  readonly files: Pick<FilesPort, 'removeTree'>;
  readonly clock: Clock;
  readonly podLogsDir: string;
  /** Null while somebody else looks after the volumes. */
  podVolumesDir(): string | null;
}

/** What the runtime still lists of a pod. */
export interface Remains {
  readonly containers: readonly ContainerRecord[];
  readonly sandboxes: readonly SandboxRecord[];
}

/** What came of it. */
export interface RemainsEnd {
  readonly outcome: Extract<KillOutcome, { kind: 'gone' | 'remains' }>;
  /** Whether another try may do better: the runtime was busy, or had no room to record it. */
  readonly mayChange: boolean;
}

/**
 * Removes all that a dead pod held, each in its turn: containers, sandboxes, logs, and volumes where they are ours to remove. What
 * is in `done` has gone before; what goes now is added to it.
 */
export async function* removeRemains(
  deps: RemainsDeps,
  pod: PodRecord,
  { containers, sandboxes }: Remains,
  done: Set<string>,
  signal: AbortSignal,
): AsyncGenerator<EvictionEvent, RemainsEnd> {
  const { runtime } = deps;
  const label = labelOf(pod);
  const failures = [
    ...(yield* round(
      deps.clock,
      containers.map(({ id, name }) => ({
        what: 'container',
        id,
        label: `${label}/${name}`,
        remove: () => runtime.removeContainer(id, signal),
      })),
      done,
    )),
    ...(yield* round(
      deps.clock,
      sandboxes.map(({ id }) => ({ what: 'sandbox', id, label, remove: () => runtime.removeSandbox(id, signal) })),
      done,
    )),
    ...(yield* removeFiles(deps, pod, done)),
  ];
  if (failures.length === 0) return { outcome: { kind: 'gone' }, mayChange: false };
  return {
    outcome: { kind: 'remains', message: failures.map(messageOf).join('; ') },
    mayChange: failures.some((each) => each instanceof RuntimeError && PASSES.has(each.kind)),
  };
}

/** Removes the logs of a pod whose processes are gone, and its volumes where they are ours to remove. Answers with what failed. */
export async function* removeFiles(
  deps: Pick<RemainsDeps, 'files' | 'clock' | 'podLogsDir' | 'podVolumesDir'>,
  pod: PodRecord,
  done: Set<string>,
): AsyncGenerator<EvictionEvent, readonly Error[]> {
  const { files, podLogsDir } = deps;
  const label = labelOf(pod);
  const logs = `${pod.namespace}_${pod.name}_${pod.uid}`;
  const podVolumesDir = deps.podVolumesDir();
  const remains: Remain[] = [{ what: 'pod-logs', id: logs, label, remove: () => files.removeTree(podLogsDir, logs) }];
  if (podVolumesDir !== null) {
    const remove = () => files.removeTree(podVolumesDir, pod.uid);
    remains.push({ what: 'pod-volumes', id: pod.uid, label, remove });
  }
  return yield* round(deps.clock, remains, done);
}

/** Failures of which the next try may know nothing. */
const PASSES: ReadonlySet<RuntimeErrorKind> = new Set(['no-space', 'busy', 'still-running', 'deadline', 'unavailable']);

interface Remain {
  readonly what: RemovalSubject['what'];
  readonly id: string;
  readonly label: string;
  remove(): Promise<void>;
}

async function* round(
  clock: Clock,
  remains: readonly Remain[],
  done: Set<string>,
): AsyncGenerator<EvictionEvent, readonly Error[]> {
  const left = remains.filter((each) => !done.has(keyOf(each)));
  const ends = await Promise.all(left.map((remain) => removeOne(clock, remain)));
  for (const { remain, event, error } of ends) {
    if (error === null) done.add(keyOf(remain));
    yield event;
  }
  return ends.flatMap(({ error }) => (error === null ? [] : [error]));
}

async function removeOne(
  clock: Clock,
  remain: Remain,
): Promise<{ readonly remain: Remain; readonly event: EvictionEvent; readonly error: Error | null }> {
  const { what, id, label } = remain;
  const subject: RemovalSubject = { what, id, label, reason: 'its pod was evicted', claimed: null };
  const began = clock.now();
  const error = await remain.remove().then(() => null, toError);
  const at = clock.now();
  const took = elapsed(began, at);
  return {
    remain,
    error,
    event:
      error === null
        ? { kind: 'removed', at, subject, availableBefore: {}, availableAfter: {}, took }
        : { kind: 'removal-failed', at, subject, message: messageOf(error), took },
  };
}

function keyOf({ what, id }: Remain): string {
  return `${what} ${id}`;
}

function labelOf(pod: PodRecord): string {
  return `${pod.namespace}/${pod.name}`;
}
