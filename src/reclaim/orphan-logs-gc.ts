import type { Clock } from '../ports/clock.js';
import type { ContainerGC } from './container-gc.js';
import type { PreparedLogs } from './orphan-logs.js';
import { carryOut, messageOf, toError } from './removal.js';
import { addResults, type ReclaimRun } from './run.js';

/**
 * Container collection that goes on with log directories of nobody, where logs lie on the pressed disk: nobody else finds them, and
 * a pod would go in their place.
 */
export function withOrphanLogs(
  containerGC: ContainerGC,
  prepareLogs: (signal: AbortSignal) => Promise<PreparedLogs>,
  clock: Clock,
): ContainerGC {
  const goesOn = ({ policy, logsHere }: ReclaimRun) => logsHere === true && policy.gc.orphanLogs === 'removed';
  return {
    async planUnusedContainers(run) {
      const removals = await containerGC.planUnusedContainers(run);
      return goesOn(run) ? [...removals, ...(await prepareLogs(run.signal)).removals] : removals;
    },
    async *deleteAllUnusedContainers(run) {
      const result = yield* containerGC.deleteAllUnusedContainers(run);
      if (result.outcome !== 'exhausted' || !goesOn(run)) return result;
      const prepared = await prepareLogs(run.signal).catch(toError);
      if (prepared instanceof Error) {
        const what = 'log directories of nobody';
        yield { kind: 'list-failed', at: clock.now(), what, message: messageOf(prepared) };
        return result;
      }
      const logs = yield* carryOut(prepared.removals, prepared.manner, run);
      // That the last of them were small says nothing about what comes next.
      return addResults(result, { ...logs, outcome: logs.outcome === 'no-effect' ? 'exhausted' : logs.outcome });
    },
  };
}
