import { type GcEvent, HOOK_STEP } from '../gc/gc-event.js';
import type { Clock } from '../ports/clock.js';
import type { CommandPort } from '../ports/command.js';
import type { RuntimePort } from '../ports/runtime.js';
import { elapsed, type Instant, milliseconds } from '../units/units.js';
import { messageOf, toError } from './removal.js';

/** What telling of collections needs from the world. */
export interface AfterCollectionDeps {
  readonly runtime: Pick<RuntimePort, 'listImages'>;
  readonly commands: CommandPort;
  readonly clock: Clock;
  /** The operator's program with its arguments. */
  readonly words: readonly string[];
  /**
   * What the program is told: the ids that are left on the node, as listed anew; or those alone that the collection looked at and
   * kept, which is what the kubelet gives its own hook. See `Policy['gc']['afterCollection']`.
   */
  readonly tells: 'left-on-node' | 'looked-at-and-kept';
}

/** A collection removes one image after the other: what is left is asked when nothing more went for a moment. */
const SETTLES_IN = milliseconds(5_000);

interface Collection {
  readonly kept: readonly string[];
  readonly freeTime: Instant;
}

/**
 * Runs a program of the operator's after image collections: one at a time and never in the way of collecting. While it runs, later
 * collections are remembered as one, since only the newest state of the node is of use. Mirrors the kubelet's post-collection
 * hooks, whose one user forgets pull credentials of images that are gone.
 */
export class AfterCollection {
  readonly #deps: AfterCollectionDeps;
  #newest: Collection | null = null;
  #wake: (() => void) | null = null;

  constructor(deps: AfterCollectionDeps) {
    this.#deps = deps;
  }

  /** Remembers that images were collected. `kept`: the ids that were looked at and kept, where these are told. */
  collected(kept: readonly string[], freeTime: Instant): void {
    this.#newest = { kept, freeTime };
    this.#wake?.();
  }

  /** Runs the program for each collection that is remembered, until `signal` aborts; tells how that went. */
  async *run(signal: AbortSignal): AsyncGenerator<GcEvent, void> {
    while (!signal.aborted) {
      if (this.#newest === null) await this.#next(signal);
      if (this.#deps.tells === 'left-on-node') await this.#settle(signal);
      const collection = this.#newest;
      this.#newest = null;
      if (collection !== null && !signal.aborted) yield await this.#tell(collection, signal);
    }
  }

  async #tell({ kept, freeTime }: Collection, signal: AbortSignal): Promise<GcEvent> {
    const { runtime, commands, clock, words, tells } = this.#deps;
    const began = clock.now();
    const images =
      tells === 'left-on-node'
        ? await runtime.listImages(signal).then((listed) => listed.map(({ id }) => id), toError)
        : kept;
    const input = { collectedAt: new Date(freeTime).toISOString(), tells, images };
    const failure =
      images instanceof Error
        ? images
        : await commands.run(words, `${JSON.stringify(input)}\n`, signal).then(() => null, toError);
    const at = clock.now();
    if (failure === null) return { kind: 'hook-ran', at, program: words[0] ?? '', took: elapsed(began, at) };
    return { kind: 'gc-step-failed', at, step: HOOK_STEP, message: messageOf(failure) };
  }

  async #settle(signal: AbortSignal): Promise<void> {
    let before: Collection | null = null;
    while (before !== this.#newest && !signal.aborted) {
      before = this.#newest;
      await this.#deps.clock.sleep(SETTLES_IN, signal);
    }
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#wake = null;
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
      // Told between the look and the wait.
      if (this.#newest !== null || signal.aborted) wake();
    });
  }
}
