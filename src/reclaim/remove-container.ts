import { logLinkPath } from '../gc/log-link.js';
import { stopGrace } from '../gc/stop-grace.js';
import type { FilesPort } from '../ports/files.js';
import type { LogFilesPort } from '../ports/log-files.js';
import type { ContainerRecord, RuntimePort } from '../ports/runtime.js';
import type { Removed } from './removal.js';

/** Removes what a container has logged. */
export interface ContainerLogs {
  /** Removes the log with all that was rotated from it, and the link to it. Missing is fine; rejects when something stays. */
  remove(container: ContainerRecord, logPath: string): Promise<void>;
}

/** What the removal of a dead container needs from the world. */
export interface RemoveContainerDeps {
  readonly runtime: Pick<RuntimePort, 'containerStatus' | 'stopContainer' | 'removeContainer'>;
  readonly logs: ContainerLogs;
  /**
   * Whether a container whose state was unknown stays when the runtime still cannot tell after a stop that succeeded. The
   * kubelet removes it then, and the runtime kills what may still run.
   */
  readonly keepsUnverified: boolean;
}

/**
 * Removes a dead container: a stop first where the runtime does not know whether it runs, then its logs, then itself. Logs go
 * first: if they cannot be removed, the container stays as the handle to try again by. Rejects when a step failed; then the
 * later ones were not tried.
 */
export async function removeDeadContainer(
  deps: RemoveContainerDeps,
  container: ContainerRecord,
  signal: AbortSignal,
): Promise<Removed> {
  const { runtime, logs, keepsUnverified } = deps;
  if (container.state === 'unknown') {
    const before = await runtime.containerStatus(container.id, signal);
    if (before === null) return GONE;
    await runtime.stopContainer(container.id, stopGrace(before.annotations), signal);
  }
  const status = await runtime.containerStatus(container.id, signal);
  if (status === null) return GONE;
  if (status.state === 'running') return { kind: 'skipped', why: 'it runs now' };
  if (status.state === 'unknown' && keepsUnverified) {
    return { kind: 'skipped', why: 'the runtime cannot tell whether it runs' };
  }
  await logs.remove(container, status.logPath);
  await runtime.removeContainer(container.id, signal);
  return { kind: 'removed' };
}

/** Somebody was faster. */
const GONE: Removed = { kind: 'skipped', why: 'it is gone already' };

/** Where logs and the links to them lie. */
export interface LogPlaces {
  readonly podLogsDir: string;
  /** Null = this node has no links to container logs, or somebody else looks after them. */
  readonly logLinksDir: string | null;
}

/** The logs of containers under a pod log root, with the links to them. One that lies elsewhere is not touched, and keeps nothing. */
export function containerLogs(
  files: Pick<FilesPort, 'removeLogs'>,
  logFiles: Pick<LogFilesPort, 'remove'>,
  { podLogsDir, logLinksDir }: LogPlaces,
): ContainerLogs {
  return {
    async remove(container, logPath) {
      if (logPath.startsWith(podLogsDir.endsWith('/') ? podLogsDir : `${podLogsDir}/`)) {
        await files.removeLogs(podLogsDir, logPath);
      }
      const { pod } = container;
      if (pod === null || logLinksDir === null) return;
      await logFiles.remove(logLinkPath(logLinksDir, `${pod.name}_${pod.namespace}`, container));
    },
  };
}
