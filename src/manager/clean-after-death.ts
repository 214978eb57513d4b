import type { GcEvent } from '../gc/gc-event.js';
import type { PodAnswers } from '../gc/inventory.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerRecord, RuntimePort } from '../ports/runtime.js';
import type { ContainerDeletor } from '../reclaim/container-deletor.js';
import { RELIST_EVERY, Relister, relistedPods } from '../reclaim/relister.js';
import { messageOf, toError } from '../reclaim/removal.js';
import { elapsed, type Milliseconds, milliseconds } from '../units/units.js';
import type { DeathHints } from './death-hints.js';

/** So long after a hint the pod is looked at. */
const BURST = milliseconds(500);

/** What noticing deaths needs. */
export interface CleanAfterDeathDeps {
  readonly runtime: Pick<RuntimePort, 'listContainers' | 'listSandboxes'>;
  readonly deletor: ContainerDeletor;
  readonly clock: Clock;
  /** Between two lists; the kubelet's second unless given. */
  readonly pause?: Milliseconds;
  /** Deaths that the runtime tells of between two lists; absent = none. Then the pod alone is looked at, or all where it is not known. */
  readonly hints?: DeathHints;
  /** Asked when something died. */
  answers(signal: AbortSignal): Promise<PodAnswers>;
}

/**
 * Lists again and again and has the deletor clean up after each death that is noticed. Ends when `signal` aborts. Its events
 * are those of what a full queue or channel did not take; what is removed tells `ContainerDeletor.run`.
 */
export async function* cleanAfterDeaths(deps: CleanAfterDeathDeps, signal: AbortSignal): AsyncGenerator<GcEvent, void> {
  const { runtime, clock } = deps;
  let containers: readonly ContainerRecord[] = [];
  let isLost = false;
  const relister = new Relister<readonly ContainerRecord[]>({
    clock,
    list: async (abort) => {
      containers = await runtime.listContainers(abort);
      return relistedPods(containers, await runtime.listSandboxes(abort));
    },
    inspect: async (podUid) => containers.filter((each) => each.pod?.uid === podUid),
  });
  while (!signal.aborted) {
    const outcome = await relister.relist(signal);
    if (outcome.kind === 'failed' && !isLost && !signal.aborted) {
      yield { kind: 'gc-step-failed', at: clock.now(), step: 'noticing deaths', message: outcome.message };
    }
    isLost = outcome.kind === 'failed';
    if (outcome.kind === 'relisted' && outcome.dropped > 0) {
      const message = `Cannot keep ${outcome.dropped} events as the channel is full`;
      yield { kind: 'gc-dropped', at: clock.now(), what: 'pod events', message };
    }
    yield* cleanUp(deps, relister, signal);
    yield* pauseWithHints(deps, relister, signal);
  }
}

/** The pause between two full lists, in which pods that hints are about are looked at alone. Ends early for a hint about several. */
async function* pauseWithHints(
  deps: CleanAfterDeathDeps,
  relister: Relister<readonly ContainerRecord[]>,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, void> {
  const { clock, hints, pause = RELIST_EVERY } = deps;
  if (hints === undefined) {
    await clock.sleep(pause, signal);
    return;
  }
  const began = clock.now();
  for (
    let left = pause;
    left > 0 && !signal.aborted;
    left = milliseconds(Math.max(0, pause - elapsed(began, clock.now())))
  ) {
    await hints.wait(clock, left, signal);
    if (signal.aborted || elapsed(began, clock.now()) >= pause) return;
    // A pod's containers die one after the other, and are looked at together.
    await clock.sleep(BURST, signal);
    const hinted = new Set(hints.take());
    const pods = [...relister.state.pods].filter(
      ([, pod]) => pod?.containers.some(({ id }) => hinted.has(id)) === true,
    );
    const [only] = pods;
    if (pods.length > 1) return;
    // A sandbox, or a container that no list has shown yet: the next one finds it.
    if (only === undefined) continue;
    await relister.relistPod(only[0], clock.now(), signal);
    yield* cleanUp(deps, relister, signal);
  }
}

async function* cleanUp(
  deps: CleanAfterDeathDeps,
  relister: Relister<readonly ContainerRecord[]>,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, void> {
  const deaths = relister.take().flatMap((each) => (each.kind === 'ContainerDied' ? [each] : []));
  if (deaths.length === 0) return;
  const answers = await deps.answers(signal).catch(toError);
  if (answers instanceof Error) {
    // Periodic collecting catches up with deaths whose pods nobody could ask about.
    const message = messageOf(answers);
    yield { kind: 'gc-step-failed', at: deps.clock.now(), step: 'clean-up after a death', message };
    return;
  }
  for (const { podUid, containerId } of deaths) {
    const entry = relister.state.cache.get(podUid);
    if (entry?.kind !== 'status') continue;
    yield* deps.deletor.deleteAfterDeath(entry.status, containerId, answers.contentMayBeRemoved(podUid));
  }
}
