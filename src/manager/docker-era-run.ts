import type { ContainerCollectionDeps } from '../reclaim/container-collection.js';
import { collectDockerEra } from '../reclaim/docker-era-gc.js';
import { dockerEraOverCri } from '../reclaim/docker-era-runtime.js';
import { collectPodLogs } from '../reclaim/pod-logs-gc.js';
import { messageOf, toError } from '../reclaim/removal.js';
import type { CollectorRun } from './periodic-gc.js';

/**
 * One run by the rules from before CRI: containers and sandboxes in one count, then logs of gone pods and dead links to logs.
 * `isCareful` leaves alone what is not sure to be dead, and what belongs to no pod.
 */
export function dockerEraGcRun(deps: ContainerCollectionDeps, isCareful: boolean): CollectorRun {
  return async function* containers(abort) {
    const { clock, limits, ownerScope = 'all' } = deps;
    const answers = await deps.answers(abort).catch(toError);
    if (answers instanceof Error) return `containers: ${messageOf(answers)}`;
    const { allSourcesReady } = answers;
    const isKnown = (uid: string) => !answers.contentMayBeRemoved(uid);
    const isOnlyGone = ownerScope !== 'all';
    const runtime = dockerEraOverCri({ ...deps, isCareful: isCareful || isOnlyGone }, abort);
    const failed: string[] = [];
    try {
      yield* collectDockerEra({
        runtime,
        clock,
        limits: isOnlyGone ? { ...limits, maxPerPodContainer: null, maxContainers: null } : limits,
        pods: { allSourcesReady, isKnown },
        signal: abort,
      });
    } catch (error) {
      failed.push(`containers: ${messageOf(error)}`);
    }
    const logs = yield* collectPodLogs({ ...deps, linksAskRuntime: isCareful }, abort);
    if (logs !== null) failed.push(`pod logs: ${messageOf(logs)}`);
    return failed.length === 0 ? null : failed.join('; ');
  };
}
