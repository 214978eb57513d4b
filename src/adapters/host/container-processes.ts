import type { Clock } from '../../ports/clock.js';
import type { ContainerProcessesPort } from '../../ports/container-processes.js';
import type { WriteCountsPort } from '../../ports/write-counts.js';
import { jobThread } from './job-thread.js';
import type { ProcessesAnswer, ProcessesJob } from './processes-protocol.js';

export interface ContainerProcessesOptions {
  readonly clock: Clock;
  /** Where procfs is, for a daemon in a container that sees the host's elsewhere. */
  readonly proc?: string;
  /** Where the unified hierarchy of control groups is. */
  readonly cgroup?: string;
}

/** The real ports about processes of containers. Dispose ends their thread. */
export interface HostContainerProcesses extends ContainerProcessesPort, WriteCountsPort, AsyncDisposable {}

/**
 * Reads procfs in a thread of its own, which the first question starts: with thousands of processes it takes tens of
 * milliseconds, and walks of files must not wait for it nor it for them.
 */
export function hostContainerProcesses(options: ContainerProcessesOptions): HostContainerProcesses {
  const { clock, proc = '/proc', cgroup = '/sys/fs/cgroup' } = options;
  const thread = jobThread<ProcessesJob, ProcessesAnswer>(
    new URL('./processes-worker.js', import.meta.url),
    'look at processes',
  );
  return {
    async look(containers, signal) {
      const answer = await thread.run({ kind: 'look', proc, containers }, signal);
      return answer.kind === 'look' ? answer.seen : new Map();
    },
    async read(signal) {
      const answer = await thread.run({ kind: 'count', proc, cgroup }, signal);
      return { at: clock.now(), counts: answer.kind === 'count' ? answer.counts : new Map() };
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
