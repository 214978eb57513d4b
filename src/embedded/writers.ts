import { Worker } from 'node:worker_threads';
import { latch } from './waiting.js';
import type { FromWriters, ToWriters, WriterOrder } from './writer-thread.js';

/** What a writer is told, without what the pool adds. */
export type WriteOrder = Omit<WriterOrder, 'id'>;

/** How a writer ended: by itself (with the code of the error, if it was one), or because it was told to. */
export interface WriteOutcome {
  readonly kind: 'ended' | 'stopped';
  readonly written: number;
  readonly error: string | null;
}

/** A writer at work. */
export interface RunningWriter {
  readonly ended: Promise<WriteOutcome>;
  setRate(perSecond: number | null): void;
  /** Closes the file and opens it again by its name, as after a log rotation. */
  reopen(): Promise<void>;
  /** Resolves once the file is closed: only then is its space free after an unlink. */
  stop(): Promise<WriteOutcome>;
}

/**
 * The processes that fill the disk, played by one thread of their own: writing 100 MB/s neither disturbs the server's
 * event loop nor takes turns in the pool where this process does its file work. The thread dies with the process.
 */
export class Writers {
  #worker: Worker | null = null;
  #last = 0;
  readonly #listeners = new Map<number, (message: FromWriters) => void>();

  /** Starts a writer; the thread comes with the first one. */
  start(order: WriteOrder): RunningWriter {
    this.#last += 1;
    const id = this.#last;
    const ended = latch();
    let outcome: WriteOutcome = { kind: 'stopped', written: 0, error: null };
    let reopened = latch();
    this.#listeners.set(id, (message) => {
      if (message.kind === 'reopened') return reopened.open();
      outcome = { kind: message.kind, written: message.written, error: message.error };
      this.#listeners.delete(id);
      reopened.open();
      ended.open();
    });
    this.#tell({ kind: 'start', order: { ...order, id } });
    const result = ended.opened.then(() => outcome);
    return {
      ended: result,
      setRate: (perSecond) => this.#tell({ kind: 'rate', id, perSecond }),
      reopen: async () => {
        if (ended.isOpen) return;
        reopened = latch();
        this.#tell({ kind: 'reopen', id });
        await reopened.opened;
      },
      stop: () => {
        if (!ended.isOpen) this.#tell({ kind: 'stop', id });
        return result;
      },
    };
  }

  /** Ends the thread with all its writers. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = null;
    for (const [id, listener] of this.#listeners) listener({ kind: 'stopped', id, written: 0, error: null });
  }

  #tell(message: ToWriters): void {
    this.#worker ??= this.#spawn();
    this.#worker.postMessage(message);
  }

  #spawn(): Worker {
    const worker = new Worker(new URL('./writer-thread.js', import.meta.url), {
      workerData: 'reclaimd-embedded-writers',
    });
    worker.on('message', (message: FromWriters) => this.#listeners.get(message.id)?.(message));
    return worker;
  }
}
