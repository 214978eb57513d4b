import type { Settings } from '../config/settings.js';
import type { Policy } from '../eviction/policy.js';
import type { GcEvent } from '../gc/gc-event.js';
import { parseLabelRule } from '../gc/image-pattern.js';
import { LOG_LINKS_DIR } from '../gc/log-link.js';
import { keptByDeletor } from '../gc/plan-deletions.js';
import { cleanAfterDeaths } from '../manager/clean-after-death.js';
import type { DeathHints } from '../manager/death-hints.js';
import { dockerEraGcRun } from '../manager/docker-era-run.js';
import {
  type CollectorRun,
  containerGcLoop,
  containerGcRun,
  type ImageGcLoopDeps,
  imageGcLoop,
  imageGcRun,
} from '../manager/periodic-gc.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort } from '../ports/files.js';
import type { ImageConfigsPort } from '../ports/image-configs.js';
import type { ChangeTimesPort, LogFilesPort } from '../ports/log-files.js';
import type { MountsPort } from '../ports/mounts.js';
import type { PodsPort } from '../ports/pods.js';
import type { ContainerStatusRecord, RuntimePort } from '../ports/runtime.js';
import type { AfterCollection } from '../reclaim/after-collection.js';
import type { Arrivals } from '../reclaim/arrivals.js';
import type { BackOff } from '../reclaim/back-off.js';
import type { ContainerCollectionDeps } from '../reclaim/container-collection.js';
import { ContainerDeletor } from '../reclaim/container-deletor.js';
import { gonePods } from '../reclaim/gone-pods.js';
import { ImageClaims } from '../reclaim/image-claims.js';
import { ImageCollector } from '../reclaim/image-collector.js';
import { imageFsStatistics } from '../reclaim/image-fs-stats.js';
import type { MarkDeps } from '../reclaim/image-mark-pass.js';
import { askEveryContainer } from '../reclaim/image-mounts.js';
import { ImageProtector } from '../reclaim/image-protector.js';
import { imageSpace } from '../reclaim/image-space.js';
import { claimsBeside, usersBeside } from '../reclaim/image-users.js';
import { createImageVolumes } from '../reclaim/image-volumes.js';
import { LogRotation } from '../reclaim/log-rotation.js';
import type { RememberedImages } from '../reclaim/remembered-images.js';
import { containerLogs } from '../reclaim/remove-container.js';
import { ReturnedImages } from '../reclaim/returned-images.js';
import type { WarningDeps } from '../reclaim/told-warnings.js';
import { type Instant, instant, milliseconds } from '../units/units.js';
import type { KubeletWatch } from './kubelet-watch.js';

/** What the loops are made from. */
export interface CollectingDeps {
  readonly settings: Settings;
  readonly policy: Policy;
  readonly runtime: RuntimePort;
  readonly pods: PodsPort;
  readonly files: FilesPort;
  readonly logFiles: LogFilesPort;
  /** Absent = nobody tells how old a directory is. */
  readonly changeTimes?: ChangeTimesPort;
  readonly mounts: MountsPort;
  readonly clock: Clock;
  /** What is said of whole runs; absent = in the kubelet profile. */
  readonly warnings?: WarningDeps;
  /** What is left alone for having failed, shared with collecting under pressure; absent = nothing is. */
  readonly backOff?: BackOff;
  /** Deaths that the runtime tells of; absent = none. */
  readonly deathHints?: DeathHints;
  /** Shared with collecting under pressure. */
  readonly imageCollector: ImageCollector;
}

type Loop = AsyncGenerator<GcEvent, void>;

/** What goes on, by the setting that wants it. */
export type Collecting = Readonly<Record<keyof Settings['periodicCollection'], readonly Loop[]>>;

/** The pods' logs where links to them lie in the usual place; those of another directory are somebody else's. */
const USUAL_POD_LOGS_DIR = '/var/log/pods';
/** The kubelet lists each second. Periodic runs do the same work within a minute, so ours is spared most of that. */
const DEATHS_NOTICED_WITHIN = milliseconds(10_000);

/**
 * All that goes on without pressure, as far as the settings want it and no kubelet does it. The loops of containers and logs end
 * for good when a kubelet is seen; all end with `signal`.
 */
export function collectingLoops(deps: CollectingDeps, kubelet: KubeletWatch, signal: AbortSignal): Collecting {
  const { periodicCollection: wanted } = deps.settings;
  const alone = AbortSignal.any([signal, kubelet.seen]);
  const images = wanted.images === 'always' ? signal : alone;
  return {
    containers:
      wanted.containers === 'auto' && deps.settings.ownerScope !== 'images' && !alone.aborted
        ? containerLoops(deps, kubelet, alone)
        : [],
    images: wanted.images !== 'never' && !images.aborted ? imageLoops(deps, images) : [],
    logRotation: wanted.logRotation === 'auto' && !alone.aborted ? rotationLoops(deps, kubelet, alone) : [],
  };
}

/** Single runs of the two collectors, outside their loops; null = the settings leave it nothing to do. */
export interface CollectorRuns {
  readonly containers: CollectorRun;
  readonly images: CollectorRun | null;
}

/** The runs that the loops make, for who has them run by hand. */
export function collectorRuns(deps: CollectingDeps, kubeletRuns: () => Promise<boolean>): CollectorRuns {
  return {
    containers: containerRun(deps, containerCollection(deps, kubeletRuns)),
    images: imageGcRun(imageCollection(deps)),
  };
}

/** What keeps images, shared by collecting under pressure and without it. */
export interface ImageKeepers {
  readonly protector: ImageProtector;
  readonly claims: ImageClaims;
}

/** Makes what keeps images out of the settings. */
export function imageKeepers(
  settings: Settings,
  runtime: Pick<RuntimePort, 'imageStatus'>,
  configs: ImageConfigsPort | null,
  pods: PodsPort,
): ImageKeepers {
  const rules = {
    patterns: settings.protectedImages,
    expressions: settings.protectedImageExpressions,
    labels: settings.protectedImageLabels.flatMap((text) => parseLabelRule(text) ?? []),
    newestPerRepository: settings.imagesKeptPerRepository,
  };
  return {
    protector: new ImageProtector(rules, configs),
    claims: new ImageClaims({
      runtime,
      wanted: async (signal) => (await pods.wantedImages?.(signal)) ?? [],
    }),
  };
}

/** What the profiles decide images by, periodically and under pressure. */
export function createImageCollector(
  deps: Pick<CollectingDeps, 'settings' | 'policy' | 'runtime' | 'clock' | 'backOff'> &
    ImageKeepers & {
      /** What is known of images from earlier lives of the process; absent or null = nothing. */
      readonly remembered?: RememberedImages | null;
      /** Absent = runs go by listed sizes, as in the kubelet profile. */
      readonly marks?: MarkDeps;
      /** Who is told of collections; absent or null = nobody. */
      readonly afterCollection?: AfterCollection | null;
      readonly arrivals?: Arrivals;
    },
): ImageCollector {
  const { settings, policy, runtime, clock, protector, claims, remembered = null } = deps;
  const isOurs = policy.name === 'reclaimd';
  const { afterCollection = null } = deps;
  const hooked =
    afterCollection === null
      ? {}
      : policy.gc.afterCollection === 'left-on-node'
        ? { afterRemoval: () => afterCollection.collected([], clock.now()) }
        : { afterSpacePass: (kept: readonly string[], at: Instant) => afterCollection.collected(kept, at) };
  return new ImageCollector({
    runtime,
    clock,
    removeImage: ({ id }, signal) => runtime.removeImage(id, signal),
    volumes: isOurs ? createImageVolumes(runtime) : askEveryContainer(runtime),
    rules: {
      highPercent: settings.imageGCHighThresholdPercent,
      lowPercent: settings.imageGCLowThresholdPercent,
      minAge: settings.imageMinimumGCAge,
      maxAge: settings.imageMaximumGCAge,
      neverUsedAgesFrom: isOurs ? 'first-seen' : 'ever',
      runtimeHandlerAware: settings.runtimeHandlerAwareImages,
    },
    protector,
    ...(deps.backOff === undefined ? {} : { backOff: deps.backOff }),
    ...(policy.gc.returnedImages === 'kept-for-an-hour'
      ? { returned: new ReturnedImages(clock, () => remembered?.recentlyRemoved ?? null) }
      : {}),
    ...(isOurs ? { claims: claimsBeside(settings.sandboxImage, claims) } : {}),
    alsoInUse: usersBeside({
      sandboxImage: settings.sandboxImage,
      byName: isOurs,
      byEveryHandler: settings.runtimeHandlerAwareImages,
    }),
    ...hooked,
    measuresFreed: isOurs,
    ...(remembered === null ? {} : { remembered }),
    ...(deps.arrivals === undefined || !isOurs ? {} : { arrivals: deps.arrivals }),
    ...(deps.marks === undefined ? {} : { marks: deps.marks }),
  });
}

function containerCollection(deps: CollectingDeps, kubeletRuns: () => Promise<boolean>): ContainerCollectionDeps {
  const { settings, policy, runtime, files, logFiles, clock } = deps;
  const { podLogsDir, containerGC: limits } = settings;
  const logLinksDir = logLinksDirOf(settings);
  return {
    runtime,
    files,
    logFiles,
    clock,
    limits,
    podLogsDir,
    logLinksDir,
    logs: containerLogs(files, logFiles, { podLogsDir, logLinksDir }),
    answers: gonePods({ ...deps, kubeletRuns }),
    keepsUnverified: policy.name === 'reclaimd',
    createdCountsAsDead: policy.gc.createdCountsAsDead,
    ownerScope: settings.ownerScope,
    ...(policy.name === 'reclaimd' ? { changes: agesOf(deps) } : {}),
    ...(deps.warnings === undefined ? {} : { warnings: deps.warnings }),
    ...(deps.backOff === undefined ? {} : { backOff: deps.backOff }),
  };
}

/** One run by the rules that the settings name. */
function containerRun({ settings, policy }: CollectingDeps, collection: ContainerCollectionDeps): CollectorRun {
  return settings.containerGC.rules === 'docker-era'
    ? dockerEraGcRun(collection, policy.gc.dockerEra === 'careful')
    : containerGcRun(collection);
}

/** Where links to container logs lie; null = nobody looks after them. */
function logLinksDirOf({ containerLogLinksDir, podLogsDir }: Settings): string | null {
  switch (containerLogLinksDir.kind) {
    case 'auto':
      return podLogsDir === USUAL_POD_LOGS_DIR ? LOG_LINKS_DIR : null;
    case 'none':
      return null;
    case 'path':
      return containerLogLinksDir.path;
  }
}

/** Where nobody says who is gone, `gonePods` has waited for it already. */
function agesOf({ changeTimes, pods }: CollectingDeps): ChangeTimesPort {
  const changedAt = async (path: string) =>
    pods.knowsAll?.() === true && changeTimes !== undefined ? changeTimes.changedAt(path) : instant(0);
  return { changedAt };
}

function containerLoops(deps: CollectingDeps, kubelet: KubeletWatch, signal: AbortSignal): readonly Loop[] {
  const { settings, policy, runtime, clock } = deps;
  const removing = containerCollection(deps, () => kubelet.look());
  const { limits } = removing;
  const answers = (each: AbortSignal) => removing.answers(each);
  // The kubelet keeps one after a death whatever the limits say. All that an operator wants kept, and what is too young, stays.
  const keepsToLimits = policy.name === 'reclaimd';
  const mayClean = limits.maxPerPodContainer !== null && limits.minAge === 0;
  const loops = [containerGcLoop(containerRun(deps, removing), clock, signal)];
  // A death leaves something of a pod that is still there.
  // The rules from before CRI know no clean-up after a death.
  const isOfOldRules = settings.containerGC.rules === 'docker-era';
  if ((keepsToLimits && !mayClean) || settings.ownerScope !== 'all' || isOfOldRules) return loops;
  const deletor = new ContainerDeletor({ ...removing, kept: keptByDeletor(limits.maxPerPodContainer) });
  const hints = deps.deathHints;
  const noticing = keepsToLimits ? { pause: DEATHS_NOTICED_WITHIN, ...(hints === undefined ? {} : { hints }) } : {};
  return [...loops, deletor.run(signal), cleanAfterDeaths({ runtime, deletor, clock, answers, ...noticing }, signal)];
}

function rotationLoops(deps: CollectingDeps, kubelet: KubeletWatch, signal: AbortSignal): readonly Loop[] {
  const { runtime, logFiles, files, clock, settings, policy } = deps;
  const { limits, workers, monitorInterval } = settings.containerLogs;
  if (limits === null) return [];
  const statuses = new Map<string, ContainerStatusRecord>();
  const rotation = new LogRotation({
    runtime: {
      // A kubelet that has come since the last look rotates by itself: two of them would take turns on one file.
      async listContainers(each) {
        const listed = (await kubelet.look()) ? [] : await runtime.listContainers(each);
        const ids = new Set(listed.map(({ id }) => id));
        for (const id of statuses.keys()) if (!ids.has(id)) statuses.delete(id);
        return listed;
      },
      // Rotation reads nothing of a status but where the log lies, which never changes: one question in the life of a
      // container instead of one every ten seconds. The kubelet asks each time.
      async containerStatus(id, each) {
        const known = statuses.get(id);
        if (known !== undefined) return known;
        const status = await runtime.containerStatus(id, each);
        if (status !== null && policy.name === 'reclaimd') statuses.set(id, status);
        return status;
      },
      reopenContainerLog: (id, each) => runtime.reopenContainerLog(id, each),
    },
    logFiles,
    files,
    clock,
    limits,
    podLogsDir: settings.podLogsDir,
    workers,
  });
  return [rotation.run(monitorInterval, signal)];
}

function imageLoops(deps: CollectingDeps, signal: AbortSignal): readonly Loop[] {
  const loop = imageGcLoop(imageCollection(deps), signal);
  return loop === null ? [] : [loop];
}

function imageCollection(deps: CollectingDeps): ImageGcLoopDeps {
  const { settings, runtime, mounts, clock, imageCollector } = deps;
  return {
    ...(deps.warnings === undefined ? {} : { warnings: deps.warnings }),
    collector: imageCollector,
    clock,
    highPercent: settings.imageGCHighThresholdPercent,
    maxAge: settings.imageMaximumGCAge,
    imageFs: async (each) =>
      deps.policy.name === 'reclaimd'
        ? imageSpace(runtime, mounts, each)
        : (await imageFsStatistics(runtime, mounts, each)).imageFs,
  };
}
