import type { GcEvent } from '../gc/gc-event.js';
import { planDeletions } from '../gc/plan-deletions.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerRecord } from '../ports/runtime.js';
import { collectOne } from './collect-one.js';
import { type RemoveContainerDeps, removeDeadContainer } from './remove-container.js';

/** What the deletor needs from the world. */
export interface ContainerDeletorDeps extends RemoveContainerDeps {
  readonly clock: Clock;
  /** How many dead instances of a container stay after a death; see `keptByDeletor`. */
  readonly kept: number;
}

/** So many requests wait at most; periodic collecting catches up with what is dropped. */
const QUEUE_LENGTH = 50;

/**
 * Cleans up right after a death, long before the next periodic run: keeps the newest dead instance of the container, or none
 * of a pod whose content may go. One at a time, each tried once. Mirrors the kubelet's `podContainerDeletor`.
 */
export class ContainerDeletor {
  readonly #deps: ContainerDeletorDeps;
  readonly #queue: ContainerRecord[] = [];
  #wake: (() => void) | null = null;

  constructor(deps: ContainerDeletorDeps) {
    this.#deps = deps;
  }

  /** What waits, in order. */
  get queued(): readonly ContainerRecord[] {
    return this.#queue;
  }

  /**
   * Asks for the clean-up after a death. `containers` are those of the pod, `dead` is the container that died (null = look at
   * the whole pod), and `removesAll` says that the pod's content may be removed. Answers with what a full queue did not take.
   */
  deleteAfterDeath(
    containers: readonly ContainerRecord[],
    dead: string | null,
    removesAll: boolean,
  ): readonly GcEvent[] {
    const plan = removesAll ? planDeletions(containers, null, 0) : planDeletions(containers, dead, this.#deps.kept);
    const byId = new Map(containers.map((each) => [each.id, each]));
    return plan.flatMap(({ id }) => {
      const container = byId.get(id);
      return container === undefined ? [] : this.#offer(container);
    });
  }

  /** Asks for the removal of all that has ended of an evicted pod. */
  deleteAllOf(containers: readonly ContainerRecord[]): readonly GcEvent[] {
    return this.deleteAfterDeath(containers, null, true);
  }

  /** Works the queue off, waiting for more, until `signal` aborts. */
  async *run(signal: AbortSignal): AsyncGenerator<GcEvent, void> {
    const wake = () => this.#wake?.();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        const container = this.#queue.shift();
        if (container === undefined) await this.#more(signal);
        else yield await this.#removeOne(container, signal);
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #offer(container: ContainerRecord): readonly GcEvent[] {
    if (this.#queue.length >= QUEUE_LENGTH) {
      const message = `Cannot queue a container for removal as at most ${QUEUE_LENGTH} may wait: ${container.id}`;
      return [{ kind: 'gc-dropped', at: this.#deps.clock.now(), what: container.id, message }];
    }
    this.#queue.push(container);
    this.#wake?.();
    return [];
  }

  async #more(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (signal.aborted || this.#queue.length > 0) resolve();
    });
    this.#wake = null;
  }

  #removeOne(container: ContainerRecord, signal: AbortSignal): Promise<GcEvent> {
    const { pod, name, id } = container;
    const label = pod === null ? name : `${pod.namespace}/${pod.name}/${name}`;
    const subject = { what: 'container', id, label, reason: 'it has ended', claimed: null } as const;
    return collectOne(this.#deps.clock, subject, () => removeDeadContainer(this.#deps, container, signal));
  }
}
