/** The program of the worker thread that reads what procfs tells of containers, one job after the other. */
import { serveJobs } from './job-loop.js';
import { lookAtProcesses } from './process-files.js';
import type { ProcessesAnswer, ProcessesJob } from './processes-protocol.js';
import { countWrites } from './write-counting.js';

serveJobs<ProcessesJob, ProcessesAnswer>((job, isStopped) => {
  switch (job.kind) {
    case 'look':
      return { kind: 'look', seen: lookAtProcesses(job.proc, new Set(job.containers), isStopped) };
    case 'count':
      return { kind: 'count', counts: countWrites(job.proc, job.cgroup, isStopped) };
  }
});
