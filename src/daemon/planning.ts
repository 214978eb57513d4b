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

/** What removals are planned by hand with: what a pass has, the planners themselves, and what tells sizes. */
export function planningDeps(
  deps: ManagerDeps,
  ports: PlanningPorts,
  settings: Pick<Settings, 'podLogsDir' | 'ownerScope' | 'containerGC'>,
  planners: Pick<PlanningDeps, 'containerPlanner' | 'imagePlanner' | 'arrivals'>,
): PlanningDeps {
  const { podLogsDir, ownerScope, containerGC: limits } = settings;
  const { changeTimes, logFiles } = ports;
  const times = {
    list: (path: string) => logFiles.list(path),
    changedAt: async (path: string) => (await changeTimes?.changedAt(path)) ?? null,
  };
  return {
    ...deps,
    ...planners,
    settingsFor: settingsByLayout(deps),
    late: new LateSpace(),
    // Nobody is ended by hand.
    kills: new Kills(),
    prepareLogs: (abort) => prepareOrphanLogs({ ...ports, logFiles: times, podLogsDir, ownerScope }, abort),
    logFiles,
    imageContent: ports.imageContent ?? null,
    imageConfigs: ports.imageConfigs ?? null,
    limits,
    ownerScope,
  };
}
