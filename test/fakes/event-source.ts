/** A stream of hints that a test gives, ends or breaks. Until `open`, it ends at once, as a runtime without events does. */
export class EventSource<Event> {
  /** How often somebody subscribed. */
  subscriptions = 0;
  #isOpen = false;
  readonly #queue: (Event | Error | 'end')[] = [];
  #wake: (() => void) | null = null;

  open(): void {
    this.#isOpen = true;
  }

  give(event: Event): void {
    this.#push(event);
  }

  /** The stream ends quietly. */
  end(): void {
    this.#push('end');
  }

  /** The stream breaks. */
  breakOff(error: Error): void {
    this.#push(error);
  }

  async *subscribe(signal: AbortSignal): AsyncGenerator<Event, void> {
    this.subscriptions += 1;
    if (!this.#isOpen) return;
    const onAbort = () => this.#wake?.();
    signal.addEventListener('abort', onAbort, { once: true });
    while (!signal.aborted) {
      const next = this.#queue.shift();
      if (next === 'end') return;
      if (next instanceof Error) throw next;
      if (next !== undefined) yield next;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #push(event: Event | Error | 'end'): void {
    this.#queue.push(event);
    this.#wake?.();
  }
}
