/** Something that can be told to end. */
export interface Cancellable {
  cancel(): void;
}

/**
 * Calls under way, by the signal that ends them. One listener serves all calls of a signal: a batch of removals shares one,
 * and Node warns of a leak from the eleventh listener on.
 */
export class Cancellation {
  readonly #underWay = new Set<Cancellable>();
  readonly #bySignal = new Map<AbortSignal, { readonly calls: Set<Cancellable>; readonly cancelAll: () => void }>();

  /** Cancels `call` when `signal` aborts or `cancelAll` is called, until the returned function says that it has ended. */
  watch(call: Cancellable, signal: AbortSignal | undefined): () => void {
    this.#underWay.add(call);
    if (signal !== undefined) this.#ofSignal(signal).add(call);
    return () => {
      this.#underWay.delete(call);
      if (signal !== undefined) this.#forget(call, signal);
    };
  }

  cancelAll(): void {
    for (const call of this.#underWay) call.cancel();
  }

  #ofSignal(signal: AbortSignal): Set<Cancellable> {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) return known.calls;
    const calls = new Set<Cancellable>();
    const cancelAll = () => {
      for (const call of calls) call.cancel();
    };
    this.#bySignal.set(signal, { calls, cancelAll });
    signal.addEventListener('abort', cancelAll, { once: true });
    return calls;
  }

  #forget(call: Cancellable, signal: AbortSignal): void {
    const known = this.#bySignal.get(signal);
    if (known === undefined) return;
    known.calls.delete(call);
    if (known.calls.size > 0) return;
    this.#bySignal.delete(signal);
    signal.removeEventListener('abort', known.cancelAll);
  }
}
