import type { OwnerScope } from '../gc/owner-scope.js';
import { type JudgedLogs, judgeOrphanLogs, uidOfLogs } from '../gc/plan-pod-logs.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort } from '../ports/files.js';
import type { ChangeTimesPort, LogFilesPort } from '../ports/log-files.js';
import type { PodsPort } from '../ports/pods.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { Bytes, Count, Instant } from '../units/units.js';
import { forEachBounded } from './image-volumes.js';
import { PlannedRemoval, type PlannedStep, type RemovalWays } from './planned-removal.js';

/** What finding log directories of nobody needs from the world. */
export interface OrphanLogsDeps {
  readonly runtime: Pick<RuntimePort, 'listContainers' | 'listSandboxes'>;
  readonly pods: PodsPort;
  readonly files: Pick<FilesPort, 'usage' | 'removeTree'>;
  readonly logFiles: Pick<LogFilesPort, 'list'> & ChangeTimesPort;
  readonly clock: Clock;
  readonly podLogsDir: string;
  readonly ownerScope: OwnerScope;
  kubeletRuns(): boolean;
}

/** A log directory of nobody, measured. */
export interface OrphanLogs extends JudgedLogs {
  readonly path: string;
  /** What it takes on the disk; null = it could not be measured whole. */
  readonly bytes: Bytes | null;
  readonly inodes: Count | null;
  readonly changedAt: Instant | null;
}

/** Log directories of nobody, made ready to be shown or removed. */
export interface PreparedLogs extends PlannedStep {
  readonly judged: readonly OrphanLogs[];
}

/** Directories looked at at a time. */
const CONCURRENCY = 4;
/** Entries of one directory that are counted; one with more is not measured. */
const MOST_ENTRIES = 10_000;

/** Finds the log directories of pods that nobody knows. Changes nothing. Rejects when it cannot be told whose they are. */
export async function prepareOrphanLogs(deps: OrphanLogsDeps, signal: AbortSignal): Promise<PreparedLogs> {
  const { files, logFiles, clock, podLogsDir } = deps;
  // Read before the pods are: one that comes meanwhile is known.
  const names = (await logFiles.list(podLogsDir)) ?? [];
  const known = await knownUids(deps, signal);
  const unknown = names.filter((name) => {
    const uid = uidOfLogs(name);
    return uid !== null && !known.has(uid);
  });
  const facts = new Map<string, Pick<OrphanLogs, 'changedAt' | 'bytes' | 'inodes'>>();
  await forEachBounded(unknown, CONCURRENCY, async (name) => {
    const path = `${podLogsDir}/${name}`;
    const usage = await files.usage(path, MOST_ENTRIES, signal).catch(() => null);
    const changedAt = await logFiles.changedAt(path).catch(() => null);
    const held = usage?.complete === true ? usage : null;
    facts.set(name, { changedAt, bytes: held?.bytes ?? null, inodes: held?.inodes ?? null });
  });
  const judged = judgeOrphanLogs({
    entries: unknown.map((name) => ({ name, changedAt: facts.get(name)?.changedAt ?? null })),
    known,
    kubeletRuns: deps.kubeletRuns(),
    ownerScope: deps.ownerScope,
    now: clock.wall(),
  }).map((each): OrphanLogs => {
    const { changedAt = null, bytes = null, inodes = null } = facts.get(each.name) ?? {};
    return { ...each, path: `${podLogsDir}/${each.name}`, bytes, inodes, changedAt };
  });
  const ways: RemovalWays<OrphanLogs & { readonly id: string }> = {
    describe: ({ id, name, bytes }, reason) => ({ what: 'pod-logs', id, label: name, reason, claimed: bytes }),
    async remove({ label }) {
      await files.removeTree(podLogsDir, label);
      return { kind: 'removed' };
    },
  };
  return {
    judged,
    removals: judged
      .filter((each) => each.goes)
      .map((each) => new PlannedRemoval({ ...each, id: each.path }, each.why, ways)),
    manner: {
      spaceComes: 'at-once',
      bytesPerClaimed: 1,
      async recheck() {
        const now = await knownUids(deps, signal);
        return ({ label }) => (now.has(uidOfLogs(label) ?? '') ? 'its pod is there now' : null);
      },
    },
  };
}

/** Everything that anybody knows, pods made by hand included. */
async function knownUids({ runtime, pods }: OrphanLogsDeps, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const [containers, sandboxes] = await Promise.all([runtime.listContainers(signal), runtime.listSandboxes(signal)]);
  const listed = await pods.list(containers, sandboxes, signal);
  return new Set([
    ...listed.map((each) => each.uid),
    ...sandboxes.map((each) => each.pod.uid),
    ...containers.flatMap((each) => each.pod?.uid ?? []),
  ]);
}
