import { Worker } from 'node:worker_threads';
import { PortError } from '../../ports/port-error.js';

/** What a thread is sent. */
export interface JobRequest<Job> {
  readonly id: number;
  readonly job: Job;
  /** One Int32: not zero means stop. */
  readonly stop: SharedArrayBuffer;
}

/** What it answers. */
export type JobResponse<Answer> =
  | { readonly id: number; readonly kind: 'done'; readonly answer: Answer }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string };

/** A thread that does jobs one after the other. Dispose ends it; jobs under way are rejected. */
export interface JobThread<Job, Answer> extends AsyncDisposable {
  /** Rejects with a `PortError` when the job failed, with the abort's reason when that came first. */
  run(job: Job, signal?: AbortSignal): Promise<Answer>;
}

/** Jobs that wait for the one thread; beyond them something is wrong with the disk, and more of them would not help. */
const MAX_JOBS = 1_024;

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that the first job starts and that does not keep the process alive. `what` names its work, such as `walk files`. */
export function jobThread<Job, Answer>(program: URL, what: string): JobThread<Job, Answer> {
  const waiting = new Map<number, Waiting<Answer>>();
  let worker: Worker | null = null;
  let nextId = 0;
  let closed = false;

  const failAll = (reason: string, cause?: unknown) => {
    worker = null;
    for (const { reject } of waiting.values()) reject(new PortError(`Cannot ${what} as ${reason}`, { cause }));
    waiting.clear();
  };

  const started = (): Worker => {
    if (worker !== null) return worker;
    const fresh = new Worker(program, { resourceLimits: { maxYoungGenerationSizeMb: 4 } });
    fresh.on('message', (response: JobResponse<Answer>) => {
      const { resolve, reject } = waiting.get(response.id) ?? {};
      waiting.delete(response.id);
      if (response.kind === 'failed') reject?.(new PortError(response.message));
      else resolve?.(response.answer);
      if (waiting.size === 0) fresh.unref();
    });
    fresh.on('error', (error) => {
      if (worker === fresh) failAll('its thread failed', error);
    });
    fresh.on('exit', (code) => {
      if (worker === fresh) failAll(`its thread ended: ${code}`);
    });
    worker = fresh;
    return fresh;
  };

  const run = (job: Job, signal?: AbortSignal): Promise<Answer> => {
    signal?.throwIfAborted();
    if (closed) throw new PortError(`Cannot ${what} as the adapter must be open`);
    if (waiting.size >= MAX_JOBS) throw new PortError(`Cannot ${what} as at most ${MAX_JOBS} jobs may wait`);
    const id = nextId++;
    const stop = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    return new Promise((resolve, reject) => {
      const abort = () => {
        Atomics.store(new Int32Array(stop), 0, 1);
        waiting.delete(id);
        if (waiting.size === 0) worker?.unref();
        // Whoever aborted says why; an abort reason is an Error unless the caller chose otherwise.
        reject(signal?.reason instanceof Error ? signal.reason : new PortError(`Cannot ${what} as it was aborted`));
      };
      const settled = () => signal?.removeEventListener('abort', abort);
      waiting.set(id, {
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      signal?.addEventListener('abort', abort, { once: true });
      const thread = started();
      // A job that somebody waits for gets done before the process ends of itself.
      thread.ref();
      thread.postMessage({ id, job, stop } satisfies JobRequest<Job>);
    });
  };

  return {
    run: async (job, signal) => run(job, signal),
    async [Symbol.asyncDispose]() {
      closed = true;
      const thread = worker;
      failAll('the adapter was closed');
      // Not awaited by the caller's exit: a thread in a call that hangs cannot be stopped.
      void thread?.terminate();
    },
  };
}
