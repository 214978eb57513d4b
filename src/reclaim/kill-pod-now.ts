import type { EvictionEvent, KillOutcome } from '../eviction/event.js';
import type { ContainerProcessesPort } from '../ports/container-processes.js';
import type { KillPod } from '../ports/kill.js';
import type { PodRecord } from '../ports/pods.js';
import type { ContainerRecord, RuntimePort } from '../ports/runtime.js';
import { elapsed, later, milliseconds } from '../units/units.js';
import { type Remains, type RemainsDeps, removeFiles, removeRemains } from './pod-remains.js';
import { PodStops } from './pod-stops.js';
import { ProcessWatch } from './process-watch.js';
import { messageOf } from './removal.js';

/** What ending a pod needs from the world. */
export interface KillDeps extends RemainsDeps {
  readonly runtime: RuntimePort;
  /** Tells whether processes are gone where the runtime does not; absent = nobody does. */
  readonly processes?: Pick<ContainerProcessesPort, 'look'>;
}

/** Between two looks at a pod that should be gone: often to begin with, when its space is waited for. */
const LOOK_EVERY = milliseconds(500);
const LOOK_LATER_EVERY = milliseconds(5_000);
const OFTEN_FOR = milliseconds(30_000);
/** Between two more stops of what still runs as far as the runtime knows; each of them ends by itself. */
const STOP_AGAIN_EVERY = milliseconds(10_000);
/** So long after its grace a pod is looked after; that others wait for its space ends much sooner. */
const GIVEN_UP_AFTER = milliseconds(600_000);

/**
 * Ends a pod and gives its space back: stops containers and sandboxes, looks whether they are gone, since an OK of a stop
 * proves nothing on a full disk, and then removes containers, sandboxes, logs, and emptyDirs where no kubelet runs. A
 * stopped container alone gives nothing back.
 *
 * A runtime that has no room to record an end tries again by itself, 1 to 17 s after there is some (measured on containerd). So
 * a pod whose end is not recorded is looked after until it is gone. Where its processes are seen to be gone its files go before
 * that: they may be the room that is wanted. Mirrors the kubelet's `killPodNow`, which only asks the pod worker.
 */
export function createKillPodNow(deps: KillDeps): KillPod {
  return async function* killPodNow(pod, grace, signal, hasten) {
    const processes = new ProcessWatch(deps.processes, deps.clock, signal);
    const running = pod.containers.filter(({ state }) => state === 'running').map(({ id }) => id);
    await processes.begin(running);
    const stops = new PodStops(deps.runtime, deps.clock, pod, grace, signal, hasten);
    const done = new Set<string>();
    let hasLostItsFiles = false;
    while (!stops.areOver) {
      await stops.rest(LOOK_EVERY);
      if (stops.areOver || hasLostItsFiles || !stops.areOverdue || !(await processes.areGone(running))) continue;
      hasLostItsFiles = true;
      yield* removeFiles(deps, pod, done);
    }
    return yield* untilGone(deps, pod, stops, processes, done, signal);
  };
}

interface Found {
  readonly outcome: KillOutcome;
  readonly mayChange: boolean;
}

/** Looks what became of the pod, until it is gone or nothing more is to be expected. */
async function* untilGone(
  deps: KillDeps,
  pod: PodRecord,
  stops: PodStops,
  processes: ProcessWatch,
  done: Set<string>,
  signal: AbortSignal,
): AsyncGenerator<EvictionEvent, KillOutcome> {
  const { clock } = deps;
  const began = clock.now();
  let stoppedAt = began;
  let lingers: KillOutcome | null = null;
  let lingersAs: KillOutcome['kind'] | null = null;
  for (;;) {
    const seen = await lookAgain(deps.runtime, pod, signal).catch((error: unknown) => messageOf(error));
    if (typeof seen === 'string') {
      // Told to end and then lost sight of: it is looked for until its time is up.
      if (lingers === null) return { kind: 'unverified', message: saying(stops, seen) };
    } else {
      const alive = seen.containers.filter((each) => each.state === 'running' || each.state === 'unknown');
      const { outcome, mayChange }: Found =
        alive.length === 0
          ? yield* removeRemains(deps, pod, seen, done, signal)
          : await stillThere(alive, stops, processes, lingers === null);
      if (!mayChange) return outcome;
      if (outcome.kind !== lingersAs) {
        yield { kind: 'pod-lingers', at: clock.now(), pod: nameOf(pod), outcome };
        if (outcome.kind === 'unrecorded') yield* removeFiles(deps, pod, done);
      }
      lingers = outcome;
      lingersAs = outcome.kind;
      if (alive.length > 0 && elapsed(stoppedAt, clock.now()) >= STOP_AGAIN_EVERY) {
        stoppedAt = clock.now();
        stops.killNow(alive.map(({ id }) => id));
      }
    }
    if (signal.aborted || clock.now() >= later(stops.graceEnds, GIVEN_UP_AFTER)) {
      return lingers ?? { kind: 'unverified', message: saying(stops, 'the runtime cannot be asked') };
    }
    await clock.sleep(elapsed(began, clock.now()) < OFTEN_FOR ? LOOK_EVERY : LOOK_LATER_EVERY, signal);
  }
}

/** What it means that containers still run as far as the runtime knows. */
async function stillThere(
  alive: readonly ContainerRecord[],
  stops: PodStops,
  processes: ProcessWatch,
  isFirstLook: boolean,
): Promise<Found> {
  const message = saying(stops, `${alive.length} of its containers still run as far as the runtime knows`);
  if (isFirstLook && stops.wereRefused) return { outcome: { kind: 'failed', message }, mayChange: false };
  const areGone = await processes.areGone(alive.map(({ id }) => id));
  return { outcome: { kind: areGone ? 'unrecorded' : 'still-running', message }, mayChange: true };
}

async function lookAgain(runtime: RuntimePort, pod: PodRecord, signal: AbortSignal): Promise<Remains> {
  const [containers, sandboxes] = await Promise.all([runtime.listContainers(signal), runtime.listSandboxes(signal)]);
  return {
    containers: containers.filter((each) => each.pod?.uid === pod.uid),
    sandboxes: sandboxes.filter((each) => each.pod.uid === pod.uid),
  };
}

function saying(stops: PodStops, what: string): string {
  return [what, ...stops.errors.map(messageOf)].join('; ');
}

function nameOf(pod: PodRecord): { readonly uid: string; readonly label: string } {
  return { uid: pod.uid, label: `${pod.namespace}/${pod.name}` };
}
