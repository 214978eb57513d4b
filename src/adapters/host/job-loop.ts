import { parentPort } from 'node:worker_threads';
import type { JobRequest, JobResponse } from './job-thread.js';

/** The thread's side of `jobThread`: performs each job that comes, and answers. What it throws becomes the failure's message. */
export function serveJobs<Job, Answer>(perform: (job: Job, isStopped: () => boolean) => Answer): void {
  parentPort?.on('message', ({ id, job, stop }: JobRequest<Job>) => {
    const flag = new Int32Array(stop);
    let response: JobResponse<Answer>;
    try {
      response = { id, kind: 'done', answer: perform(job, () => Atomics.load(flag, 0) !== 0) };
    } catch (error) {
      response = { id, kind: 'failed', message: error instanceof Error ? error.message : String(error) };
    }
    parentPort?.postMessage(response);
  });
}
