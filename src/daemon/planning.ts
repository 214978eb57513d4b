import type { Settings } from '../config/settings.js';
import { Kills } from '../manager/kills.js';
import { type ManagerDeps, settingsByLayout } from '../manager/manager.js';
import type { PlanningDeps } from '../manager/plan-removals.js';
import type { ImageConfigsPort } from '../ports/image-configs.js';
import type { ImageContentPort } from '../ports/image-content.js';
import type { ChangeTimesPort, LogFilesPort } from '../ports/log-files.js';
import { LateSpace } from '../reclaim/late-space.js';
import { type OrphanLogsDeps, prepareOrphanLogs } from '../reclaim/orphan-logs.js';

/** The ports that planning asks beside those of a pass. */
interface PlanningPorts extends Omit<OrphanLogsDeps, 'logFiles' | 'podLogsDir' | 'ownerScope'> {
  readonly logFiles: Pick<LogFilesPort, 'list' | 'size'>;
  readonly changeTimes?: ChangeTimesPort;
  readonly imageContent?: ImageContentPort;
  readonly imageConfigs?: ImageConfigsPort;
}

/** Finds log directories of nobody, for collecting under pressure and for planning by hand. */
export function orphanLogs(
  ports: PlanningPorts,
  { podLogsDir, ownerScope }: Pick<Settings, 'podLogsDir' | 'ownerScope'>,
): PlanningDeps['prepareLogs'] {
  const { changeTimes } = ports;
  const logFiles = {
    list: (path: string) => ports.logFiles.list(path),
    changedAt: async (path: string) => (await changeTimes?.changedAt(path)) ?? null,
  };
  return (abort) => prepareOrphanLogs({ ...ports, logFiles, podLogsDir, ownerScope }, abort);
}

/** What removals are planned by hand with: what a pass has, the planners themselves, and what tells sizes. */
export function planningDeps(
  deps: ManagerDeps,
  ports: PlanningPorts,
  settings: Pick<Settings, 'ownerScope' | 'containerGC'>,
  planners: Pick<PlanningDeps, 'containerPlanner' | 'imagePlanner' | 'arrivals' | 'prepareLogs'>,
): PlanningDeps {
  const { ownerScope, containerGC: limits } = settings;
  return {
    ...deps,
    ...planners,
    settingsFor: settingsByLayout(deps),
    late: new LateSpace(),
    // Nobody is ended by hand.
    kills: new Kills(),
    logFiles: ports.logFiles,
    imageContent: ports.imageContent ?? null,
    imageConfigs: ports.imageConfigs ?? null,
    limits,
    ownerScope,
  };
}
