import type { GcEvent } from '../gc/gc-event.js';
import type { PodAnswers } from '../gc/inventory.js';
import { containerIdOfLink, isLogLinkName } from '../gc/log-link.js';
import { LEFT_ALONE_FOR, planPodLogs } from '../gc/plan-pod-logs.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort } from '../ports/files.js';
import type { ChangeTimesPort, LogFilesPort } from '../ports/log-files.js';
import { RuntimeError, type RuntimePort } from '../ports/runtime.js';
import { elapsed } from '../units/units.js';
import { collectOne } from './collect-one.js';
import { messageOf, toError } from './removal.js';

/** What collecting the logs of gone pods needs from the world. */
export interface PodLogsDeps {
  readonly runtime: Pick<RuntimePort, 'containerStatus'>;
  readonly files: Pick<FilesPort, 'removeTree'>;
  readonly logFiles: Pick<LogFilesPort, 'list' | 'size' | 'remove'>;
  readonly clock: Clock;
  readonly podLogsDir: string;
  /** Null = this node has no links to container logs, or somebody else looks after them. */
  readonly logLinksDir: string | null;
  /** Whether a link without a target stays while the runtime knows a container of it that lives; absent = it does. */
  readonly linksAskRuntime?: boolean;
  /** Tells how long an entry was left alone: whoever starts a pod makes its directory first. Absent = that is not asked, as in the kubelet. */
  readonly changes?: ChangeTimesPort;
  /** Asked after the directory was read, so that a pod which came meanwhile is known. */
  answers(signal: AbortSignal): Promise<PodAnswers>;
}

/**
 * Removes log directories of pods that are gone, and then links whose log is gone for good. Answers with what failed the step,
 * or null; an entry that stays fails nothing and comes up again. Mirrors `evictPodLogsDirectories`.
 */
export async function* collectPodLogs(deps: PodLogsDeps, signal: AbortSignal): AsyncGenerator<GcEvent, Error | null> {
  const answers = await answersThenEntries(deps, signal).catch(toError);
  if (answers instanceof Error) return answers;
  for (const name of answers) {
    if (await isTooYoung(deps, name)) continue;
    const id = `${deps.podLogsDir}/${name}`;
    const subject = { what: 'pod-logs', id, label: name, reason: 'its pod is gone', claimed: null } as const;
    yield await collectOne(deps.clock, subject, async () => {
      await deps.files.removeTree(deps.podLogsDir, name);
      return { kind: 'removed' };
    });
  }
  if (deps.logLinksDir !== null) yield* collectDeadLinks(deps, deps.logLinksDir, signal);
  return null;
}

/** One whose age nobody can tell stays. */
async function isTooYoung({ changes, clock, podLogsDir }: PodLogsDeps, name: string): Promise<boolean> {
  if (changes === undefined) return false;
  const at = await changes.changedAt(`${podLogsDir}/${name}`).catch(() => null);
  const now = clock.wall();
  return at === null || at > now || elapsed(at, now) < LEFT_ALONE_FOR;
}

async function answersThenEntries(deps: PodLogsDeps, signal: AbortSignal): Promise<readonly string[]> {
  const before = await deps.answers(signal);
  // Before all sources are ready the directory is not even read.
  if (!before.allSourcesReady) return [];
  const entries = (await deps.logFiles.list(deps.podLogsDir)) ?? [];
  return entries.length === 0 ? [] : planPodLogs(entries, await deps.answers(signal));
}

/**
 * A link whose target is missing is dead unless its container lives: between the rename and the reopen of a rotation the
 * target is missing for a moment. What cannot be told stays.
 */
async function* collectDeadLinks(
  deps: PodLogsDeps,
  directory: string,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, void> {
  const { logFiles, clock } = deps;
  const names = await logFiles.list(directory).catch(toError);
  if (names instanceof Error) {
    yield { kind: 'gc-step-failed', at: clock.now(), step: 'links to container logs', message: messageOf(names) };
    return;
  }
  for (const name of (names ?? []).filter(isLogLinkName)) {
    const path = `${directory}/${name}`;
    const size = await logFiles.size(path).catch(toError);
    if (size !== null) continue;
    const reason = deps.linksAskRuntime === false ? 'its log is gone' : await whyDead(deps.runtime, path, signal);
    if (reason === null) continue;
    const subject = { what: 'log-link', id: path, label: name, reason, claimed: null } as const;
    yield await collectOne(clock, subject, async () => {
      await logFiles.remove(path);
      return { kind: 'removed' };
    });
  }
}

/** Why a link without a target is dead; null = it is not, or nobody can tell. */
async function whyDead(
  runtime: Pick<RuntimePort, 'containerStatus'>,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  const id = containerIdOfLink(path);
  if (id === null) return 'its log is gone and it names no container';
  const status = await runtime.containerStatus(id, signal).catch(toError);
  if (status === null) return 'its log and its container are gone';
  // A refusal is as good as gone, as in the kubelet. An answer that holds nothing, or nobody who answers, tells nothing.
  if (status instanceof RuntimeError) {
    return status.kind === 'unavailable' ? null : 'its log is gone and the runtime refuses its container';
  }
  if (status instanceof Error) return null;
  return status.state === 'exited' ? 'its log is gone and its container has ended' : null;
}
