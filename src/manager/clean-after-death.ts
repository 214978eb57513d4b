import type { GcEvent } from '../gc/gc-event.js';
import type { PodAnswers } from '../gc/inventory.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerRecord, RuntimePort } from '../ports/runtime.js';
import type { ContainerDeletor } from '../reclaim/container-deletor.js';
import { RELIST_EVERY, Relister, relistedPods } from '../reclaim/relister.js';
import { messageOf, toError } from '../reclaim/removal.js';
import type { Milliseconds } from '../units/units.js';

/** What noticing deaths needs. */
export interface CleanAfterDeathDeps {
  readonly runtime: Pick<RuntimePort, 'listContainers' | 'listSandboxes'>;
  readonly deletor: ContainerDeletor;
  readonly clock: Clock;
  /** Between two lists; the kubelet's second unless given. */
  readonly pause?: Milliseconds;
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
    await clock.sleep(deps.pause ?? RELIST_EVERY, signal);
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
