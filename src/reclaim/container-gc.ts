import type { EvictionEvent, RemovalSubject } from '../eviction/event.js';
import type { PlannedSandbox, PodAnswers } from '../gc/inventory.js';
import { type OwnerScope, withinScope } from '../gc/owner-scope.js';
import { type ContainerLimits, planContainers } from '../gc/plan-containers.js';
import { planSandboxes } from '../gc/plan-sandboxes.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort } from '../ports/files.js';
import type { PodRecord, PodsPort } from '../ports/pods.js';
import type { ContainerRecord, ContainerStatusRecord, RuntimePort, SandboxRecord } from '../ports/runtime.js';
import { milliseconds } from '../units/units.js';
import type { BackOff } from './back-off.js';
import { layerUsage } from './layer-usage.js';
import { PlannedRemoval, type PlannedStep, type RemovalWays, type Remover } from './planned-removal.js';
import { carryOut, failureOf, messageOf, toError } from './removal.js';
import { addResults, nothingRemoved, type ReclaimRun, type ReclaimStepRun } from './run.js';
import { bytesGained } from './settle.js';

/** Removes containers that nobody needs. Mirrors the kubelet's `ContainerGC`. */
export interface ContainerGC {
  /**
   * Removes dead containers, with their logs, until the goals are measured, and then the sandboxes that nothing needs.
   * Mirrors `DeleteAllUnusedContainers`.
   */
  deleteAllUnusedContainers(run: ReclaimRun): ReclaimStepRun;
  /** What it would remove, in order. Changes nothing. */
  planUnusedContainers(run: ReclaimRun): Promise<readonly PlannedRemoval[]>;
}

/** What would go and how, made ready to be shown or carried out. */
export interface PreparedContainers {
  readonly containers: PlannedStep;
  readonly sandboxes: PlannedStep;
  /** What was listed for it. */
  readonly listed: {
    readonly containers: readonly ContainerRecord[];
    readonly sandboxes: readonly SandboxRecord[];
    readonly pods: readonly PodRecord[];
  };
}

/** Makes ready what `deleteAllUnusedContainers` would do. */
export interface ContainerPlanner {
  /** Changes nothing. Rejects when it cannot be told. */
  prepareContainers(run: ReclaimRun): Promise<PreparedContainers>;
}

/** What container collection needs from the world. */
export interface ContainerGcDeps {
  readonly runtime: RuntimePort;
  readonly pods: PodsPort;
  readonly files: FilesPort;
  readonly clock: Clock;
  readonly limits: ContainerLimits;
  /** Where the pods' log directories lie; logs elsewhere are not touched. */
  readonly podLogsDir: string;
  /** Whose garbage goes; absent = everybody's. */
  readonly ownerScope?: OwnerScope;
  /** What is left alone for having failed; absent = nothing is. */
  readonly backOff?: BackOff;
}

/** Grace for a container whose state the runtime does not know, before it is removed: the kubelet's smallest. */
const UNKNOWN_STATE_GRACE = milliseconds(2_000);

/** Sizes are for batching and for the log: the first removal does not wait longer for them than this. */
const SIZES_WITHIN = milliseconds(100);

/** Makes a container collector. */
export function createContainerGC(deps: ContainerGcDeps): ContainerGC & ContainerPlanner {
  return {
    prepareContainers: (run) => plan(deps, run),
    planUnusedContainers: async (run) => {
      const { containers, sandboxes } = await plan(deps, run);
      return [...containers.removals, ...sandboxes.removals];
    },
    async *deleteAllUnusedContainers(run) {
      const planned = await plan(deps, run).catch(toError);
      if (planned instanceof Error) {
        yield listFailed(deps, 'containers and pods', messageOf(planned));
        return nothingRemoved(failureOf(planned));
      }
      const containers = yield* carryOut(planned.containers.removals, planned.containers.manner, run);
      if (containers.outcome !== 'exhausted') return containers;
      const sandboxes = yield* carryOut(planned.sandboxes.removals, planned.sandboxes.manner, run);
      // A sandbox holds next to nothing: that its removal brings nothing says nothing about what comes next.
      const outcome = sandboxes.outcome === 'no-effect' ? 'exhausted' : sandboxes.outcome;
      return addResults(containers, { ...sandboxes, outcome });
    },
  };
}

async function plan(deps: ContainerGcDeps, run: ReclaimRun): Promise<PreparedContainers> {
  const { runtime, limits, clock } = deps;
  const [containers, sandboxes, sizes] = await Promise.all([
    runtime.listContainers(run.signal),
    runtime.listSandboxes(run.signal),
    layerUsage(runtime, clock, SIZES_WITHIN, run.signal),
  ]);
  const pods = await deps.pods.list(containers, sandboxes, run.signal);
  const answers = answersOf(pods);
  const scope = deps.ownerScope ?? 'all';
  const everyContainer = planContainers({
    containers,
    limits,
    pods: answers,
    finishedPodsToo: true,
    lastOnesToo: run.policy.gc.deadContainers === 'all-dead',
    createdCountsAsDead: run.policy.gc.createdCountsAsDead,
    now: clock.wall(),
  });
  const isResting = (id: string) => (deps.backOff?.reason(id) ?? null) !== null;
  const plannedContainers = withinScope(scope, everyContainer).filter(({ item }) => !isResting(item.id));
  const going = new Set(plannedContainers.map(({ item }) => item));
  const staying = containers.filter((each) => !going.has(each));
  const sandboxPlan = withinScope(scope, planSandboxes(sandboxes, staying, answers, true)).filter(
    ({ item }) => !isResting(item.id),
  );
  const containerWays: RemovalWays<ContainerRecord> = {
    describe: (item, reason) => ({
      what: 'container',
      id: item.id,
      label: containerLabel(item),
      reason,
      claimed: sizes.get(item.id)?.writableLayer?.used ?? null,
    }),
    remove: containerRemover(deps, run),
  };
  const sandboxWays: RemovalWays<PlannedSandbox> = {
    describe: ({ id, pod }, reason) => ({
      what: 'sandbox',
      id,
      label: `${pod.namespace}/${pod.name}`,
      reason,
      claimed: null,
    }),
    remove: sandboxRemover(runtime),
  };
  return {
    containers: {
      removals: plannedContainers.map(({ item, why }) => new PlannedRemoval(item, why, containerWays)),
      manner: {
        spaceComes: 'late',
        bytesPerClaimed: 1,
        freeNow: (signal) => deps.runtime.freeRemoved(signal),
        recheck: () => Promise.resolve(() => null),
      },
    },
    sandboxes: {
      removals: sandboxPlan.map(({ item, why }) => new PlannedRemoval(item, why, sandboxWays)),
      manner: { spaceComes: 'at-once', bytesPerClaimed: 1, recheck: () => sandboxUsers(deps, run) },
    },
    listed: { containers, sandboxes, pods },
  };
}

/** Why a sandbox must not go after all: a container has come, or stayed since its removal failed. */
async function sandboxUsers(
  deps: ContainerGcDeps,
  run: ReclaimRun,
): Promise<(subject: RemovalSubject) => string | null> {
  const users = new Set((await deps.runtime.listContainers(run.signal)).map((each) => each.sandboxId));
  return (subject) => (users.has(subject.id) ? 'a container belongs to it' : null);
}

/** The two pod questions, answered from a list of pods: what no source lists is gone. */
export function answersOf(pods: readonly PodRecord[]): PodAnswers {
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  return {
    allSourcesReady: true,
    contentMayBeRemoved: (uid) => !byUid.has(uid),
    runtimeMayBeRemoved: (uid) => byUid.get(uid)?.isFinished ?? true,
  };
}

/**
 * A log elsewhere is not touched, and keeps no container: with a `podLogsDir` that is not the kubelet's no garbage could else be
 * collected, and a pod would go in its place.
 */
function isOurs(logPath: string, podLogsDir: string): boolean {
  return logPath.startsWith(podLogsDir.endsWith('/') ? podLogsDir : `${podLogsDir}/`);
}

/** Removes one dead container with its logs. */
function containerRemover(
  { runtime, files, podLogsDir }: Pick<ContainerGcDeps, 'runtime' | 'files' | 'podLogsDir'>,
  run: Pick<ReclaimRun, 'look'>,
): Remover {
  return async ({ id }, signal) => {
    const status = await settledStatus(runtime, id, signal);
    if (status === null) return { kind: 'removed' };
    if (status.state === 'running') return { kind: 'skipped', why: 'it runs now' };
    if (status.state === 'unknown') return { kind: 'skipped', why: 'the runtime cannot tell whether it runs' };
    // Logs go first: if they cannot be removed, the container stays as the handle to try again by.
    const withLogs = await run.look();
    if (isOurs(status.logPath, podLogsDir)) await files.removeLogs(podLogsDir, status.logPath);
    const besides = bytesGained(withLogs, await run.look());
    await runtime.removeContainer(id, signal);
    return { kind: 'removed', besides };
  };
}

/** The state now, not that of the plan; what nobody knows to have ended is stopped first, and looked at again. */
async function settledStatus(
  runtime: RuntimePort,
  id: string,
  signal: AbortSignal,
): Promise<ContainerStatusRecord | null> {
  const status = await runtime.containerStatus(id, signal);
  if (status?.state !== 'unknown') return status;
  await runtime.stopContainer(id, UNKNOWN_STATE_GRACE, signal);
  return runtime.containerStatus(id, signal);
}

function sandboxRemover(runtime: RuntimePort): Remover {
  return async ({ id }, signal) => {
    await runtime.stopSandbox(id, signal);
    await runtime.removeSandbox(id, signal);
    return { kind: 'removed' };
  };
}

function containerLabel(container: ContainerRecord): string {
  const { pod } = container;
  return pod === null ? container.name : `${pod.namespace}/${pod.name}/${container.name}`;
}

function listFailed(deps: ContainerGcDeps, what: string, message: string): EvictionEvent {
  return { kind: 'list-failed', at: deps.clock.now(), what, message };
}
