import type { EvictionEvent, KillOutcome, RemovalSubject } from '../eviction/event.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort } from '../ports/files.js';
import type { KillPod } from '../ports/kill.js';
import type { PodRecord } from '../ports/pods.js';
import { type ContainerRecord, RuntimeError, type RuntimePort, type SandboxRecord } from '../ports/runtime.js';
import { elapsed, type Milliseconds, milliseconds } from '../units/units.js';
import { messageOf } from './removal.js';
import { timeLimit } from './time-limit.js';

/** What ending a pod needs from the world. */
export interface KillDeps {
  readonly runtime: RuntimePort;
  readonly files: FilesPort;
  readonly clock: Clock;
  readonly podLogsDir: string;
  /**
   * Where pods' volumes lie (`<root>/pods`); null while a kubelet runs: the volumes are its to unmount and remove.
   */
  podVolumesDir(): string | null;
}

/**
 * Ends a pod and gives its space back: stops containers and sandboxes, looks whether they are gone, since an OK of a stop
 * proves nothing on a full disk, and then removes containers, sandboxes, logs, and emptyDirs where no kubelet runs. A
 * stopped container alone gives nothing back. Mirrors the kubelet's `killPodNow`, which only asks the pod worker.
 */
export function createKillPodNow(deps: KillDeps): KillPod {
  return async function* killPodNow(pod, grace, signal, hasten) {
    const errors = await stopAll(deps, pod, grace, signal, hasten);
    const said = errors.map(messageOf);
    const seen = await lookAgain(deps.runtime, pod, signal).catch((error: unknown) => messageOf(error));
    if (typeof seen === 'string') return { kind: 'unverified', message: [...said, seen].join('; ') };
    const alive = seen.containers.filter((each) => each.state === 'running' || each.state === 'unknown');
    if (alive.length > 0) {
      const what = `${alive.length} of its containers still run as far as the runtime knows`;
      return { kind: wasRefused(errors) ? 'failed' : 'still-running', message: [what, ...said].join('; ') };
    }
    return yield* removeRemains(deps, pod, seen, signal);
  };
}

const AT_ONCE = milliseconds(0);
/** With its containers gone a sandbox stops in 30 to 160 ms, measured; one that hangs must not hold up all passes. */
const SANDBOX_STOPS_WITHIN = milliseconds(10_000);

interface Remains {
  readonly containers: readonly ContainerRecord[];
  readonly sandboxes: readonly SandboxRecord[];
}

/** Stops everything, the containers first and together; answers with what failed. */
async function stopAll(
  { runtime, clock }: KillDeps,
  pod: PodRecord,
  grace: Milliseconds,
  signal: AbortSignal,
  hasten: AbortSignal | undefined,
): Promise<readonly unknown[]> {
  const alive = pod.containers.filter((each) => each.state !== 'exited');
  const stops = alive.map((each) => runtime.stopContainer(each.id, grace, signal));
  // A second stop without grace overtakes one that waits for its grace to run out; its own failure changes nothing.
  const overtake = () => {
    for (const each of alive) void runtime.stopContainer(each.id, AT_ONCE, signal).catch(() => undefined);
  };
  hasten?.addEventListener('abort', overtake, { once: true });
  const containers = await Promise.allSettled(stops);
  hasten?.removeEventListener('abort', overtake);
  const limit = timeLimit(clock, SANDBOX_STOPS_WITHIN, signal);
  const sandboxes = await Promise.allSettled(pod.sandboxes.map((each) => runtime.stopSandbox(each.id, limit.signal)));
  limit.end();
  return [...containers, ...sandboxes].flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
}

async function lookAgain(runtime: RuntimePort, pod: PodRecord, signal: AbortSignal): Promise<Remains> {
  const [containers, sandboxes] = await Promise.all([runtime.listContainers(signal), runtime.listSandboxes(signal)]);
  return {
    containers: containers.filter((each) => each.pod?.uid === pod.uid),
    sandboxes: sandboxes.filter((each) => each.pod.uid === pod.uid),
  };
}

/** A stop that was refused outright never began; one that ran into its deadline may have killed, its exit not recorded. */
function wasRefused(errors: readonly unknown[]): boolean {
  const mayHaveKilled = (error: unknown) =>
    error instanceof RuntimeError &&
    (error.kind === 'deadline' || error.kind === 'still-running' || error.kind === 'cancelled');
  return errors.length > 0 && !errors.some(mayHaveKilled);
}

async function* removeRemains(
  deps: KillDeps,
  pod: PodRecord,
  seen: Remains,
  signal: AbortSignal,
): AsyncGenerator<EvictionEvent, KillOutcome> {
  const { runtime, files } = deps;
  const label = `${pod.namespace}/${pod.name}`;
  const logs = `${pod.namespace}_${pod.name}_${pod.uid}`;
  const podVolumesDir = deps.podVolumesDir();
  const rounds: readonly (readonly Remain[])[] = [
    seen.containers.map(({ id, name }) => ({
      what: 'container',
      id,
      label: `${label}/${name}`,
      remove: () => runtime.removeContainer(id, signal),
    })),
    seen.sandboxes.map(({ id }) => ({ what: 'sandbox', id, label, remove: () => runtime.removeSandbox(id, signal) })),
    [
      { what: 'pod-logs', id: logs, label, remove: () => files.removeTree(deps.podLogsDir, logs) },
      ...(podVolumesDir === null
        ? []
        : [
            {
              what: 'pod-volumes' as const,
              id: pod.uid,
              label,
              remove: () => files.removeTree(podVolumesDir, pod.uid),
            },
          ]),
    ],
  ];
  const failures: string[] = [];
  for (const round of rounds) {
    const events = await Promise.all(round.map((remain) => removeOne(deps.clock, remain)));
    yield* events;
    for (const event of events) if (event.kind === 'removal-failed') failures.push(event.message);
  }
  return failures.length === 0 ? { kind: 'gone' } : { kind: 'remains', message: failures.join('; ') };
}

interface Remain {
  readonly what: RemovalSubject['what'];
  readonly id: string;
  readonly label: string;
  remove(): Promise<void>;
}

async function removeOne(clock: Clock, remain: Remain) {
  const { what, id, label } = remain;
  const subject: RemovalSubject = { what, id, label, reason: 'its pod was evicted', claimed: null };
  const began = clock.now();
  try {
    await remain.remove();
    const took = elapsed(began, clock.now());
    return { kind: 'removed' as const, at: clock.now(), subject, availableBefore: {}, availableAfter: {}, took };
  } catch (error) {
    const took = elapsed(began, clock.now());
    return { kind: 'removal-failed' as const, at: clock.now(), subject, message: messageOf(error), took };
  }
}
