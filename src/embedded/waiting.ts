import { setMaxListeners } from 'node:events';

/** Resolves after that many milliseconds, or at once when the signal says so: true when the time is over. */
export function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    // A timer fires after 2^31 - 1 milliseconds at the latest; longer pauses are cut there.
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve(true);
      },
      Math.min(ms, 2 ** 31 - 1),
    );
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** A controller whose signal any number of waits may listen to; Node would warn from the eleventh on. */
export function closing(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Something that happens once and can be waited for. */
export interface Latch {
  readonly isOpen: boolean;
  readonly opened: Promise<void>;
  open(): void;
}

/** A latch that is closed. */
export function latch(): Latch {
  let isOpen = false;
  let resolve: () => void = () => undefined;
  const opened = new Promise<void>((done) => {
    resolve = done;
  });
  return {
    get isOpen() {
      return isOpen;
    },
    opened,
    open() {
      isOpen = true;
      resolve();
    },
  };
}

/** Runs pieces of work one after the other. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
