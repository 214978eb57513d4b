import type { Settings } from '../config/settings.js';
import { deviceUnder } from '../eviction/layout.js';
import { POLICIES, type Policy } from '../eviction/policy.js';
import type { FilesystemName } from '../eviction/signal.js';
import { DeathHints } from '../manager/death-hints.js';
import { createLooker } from '../manager/look.js';
import { createManager, type Manager, type ManagerDeps } from '../manager/manager.js';
import type { PlanningDeps } from '../manager/plan-removals.js';
import type { Memory } from '../manager/state-keeper.js';
import type { BallastPort } from '../ports/ballast.js';
import type { Clock } from '../ports/clock.js';
import type { CommandPort } from '../ports/command.js';
import type { ContainerProcessesPort } from '../ports/container-processes.js';
import type { FilesPort } from '../ports/files.js';
import type { ImageConfigsPort } from '../ports/image-configs.js';
import type { ImageContentPort } from '../ports/image-content.js';
import type { IoPressurePort } from '../ports/io-pressure.js';
import type { KillPod } from '../ports/kill.js';
import type { ChangeTimesPort, LogFilesPort } from '../ports/log-files.js';
import type { MountsPort } from '../ports/mounts.js';
import type { NodeStatsPort } from '../ports/node-stats.js';
import type { PodRecord, PodsPort } from '../ports/pods.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { WriteCountsPort } from '../ports/write-counts.js';
import type { AdmissionGuard } from '../reclaim/admission-guard.js';
import { AfterCollection } from '../reclaim/after-collection.js';
import { Arrivals } from '../reclaim/arrivals.js';
import { BackOff } from '../reclaim/back-off.js';
import { Ballast } from '../reclaim/ballast.js';
import { createContainerGC } from '../reclaim/container-gc.js';
import { createImageGC } from '../reclaim/image-gc.js';
import { createKillPodNow } from '../reclaim/kill-pod-now.js';
import { Notices } from '../reclaim/notices.js';
import { withOrphanLogs } from '../reclaim/orphan-logs-gc.js';
import { Pace } from '../reclaim/pace.js';
import { createPodMeter } from '../reclaim/pod-meter.js';
import { measurePodStorage } from '../reclaim/pod-storage.js';
import { RuntimeDeadlines } from '../reclaim/runtime-deadlines.js';
import { watchedRuntime } from '../reclaim/watched-runtime.js';
import {
  type Collecting,
  type CollectorRuns,
  collectingLoops,
  collectorRuns,
  createImageCollector,
  imageKeepers,
} from './collecting.js';
import { admissionGuard } from './guard.js';
import type { KubeletWatch } from './kubelet-watch.js';
import { memoryNotifiers } from './memory-notifiers.js';
import { orphanLogs, planningDeps } from './planning.js';

/** The world that a node is made over: the real one, or one in memory. */
export interface NodePorts {
  readonly clock: Clock;
  readonly runtime: RuntimePort;
  readonly mounts: MountsPort;
  readonly nodeStats: NodeStatsPort;
  readonly files: FilesPort;
  /** What the kernel tells of containers by their processes; absent = their layers are what the runtime says. */
  readonly processes?: ContainerProcessesPort;
  /** What containers have written; absent = nobody can say who fills a disk. */
  readonly writeCounts?: WriteCountsPort;
  readonly logFiles: LogFilesPort;
  readonly pods: PodsPort;
  /** Absent = no ballast, whatever the settings say. */
  readonly ballast?: BallastPort;
  /** Tells what images say of themselves, for rules on labels; absent = nobody does. */
  readonly imageConfigs?: ImageConfigsPort;
  /** What outlives the process; absent = nothing does. The kubelet profile forgets in any case. */
  readonly memory?: Memory;
  /** Tells what images share on the disk; absent = nobody does. */
  readonly imageContent?: ImageContentPort;
  /** Tells when log directories changed; absent = nobody does, and none of nobody's goes. */
  readonly changeTimes?: ChangeTimesPort;
  /** Runs programs of the operator's; absent = none can be run here. */
  readonly commands?: CommandPort;
  /** Absent = removals are never slowed down. */
  readonly ioPressure?: IoPressurePort;
  /** Whether a kubelet runs beside us, as last looked for. */
  kubeletRuns(): boolean;
  /** Stands between the manager and the ends of pods: one that watches what is asked of a node in memory. */
  readonly aroundKill?: (kill: KillPod) => KillPod;
}

/** What works on a node. Nothing runs yet. */
export interface ComposedNode {
  readonly manager: Manager;
  /** What removals are planned by hand with, by the same planners. */
  readonly planning: PlanningDeps;
  /** Refuses new pods while a disk is nearly full; null = it is not configured. */
  readonly guard: AdmissionGuard | null;
  /** Runs the operator's program after collections; null = none is configured. */
  readonly afterCollection: AfterCollection | null;
  /** What wakes the manager when the use of memory crosses a line, each by its name. */
  readonly notifiers: readonly string[];
  /** Ends the manager and what wakes it. */
  stop(): void;
  /** What goes on without pressure, to be run beside the manager. See `collectingLoops`. */
  collecting(kubelet: KubeletWatch, signal: AbortSignal): Collecting;
  /** The runs of the periodic collectors, one by one. */
  readonly runs: CollectorRuns;
}

/** Why pods are not evicted beside a kubelet. */
const KUBELET_EVICTS = 'a kubelet runs on this node and evicts pods itself (evictBesideKubelet is off)';

/** Makes what works on a node out of the settings and the ports: everything but the ports themselves is the same everywhere. */
export function composeNode(settings: Settings, ports: NodePorts): ComposedNode {
  const { clock, mounts, nodeStats, files, pods, aroundKill = (kill: KillPod) => kill } = ports;
  const policy = POLICIES[settings.profile];
  const backOff = policy.gc.failedRemovals === 'back-off' ? new BackOff(clock) : null;
  const isOurs = policy.name === 'reclaimd';
  const notices = new Notices(clock);
  const deadlines = new RuntimeDeadlines(notices);
  // The kubelet's own messages are told by its rules; beside them nothing is.
  const warned = isOurs ? { warnings: { clock, notices, deadlines } } : {};
  const asked = isOurs ? deadlines.watch(ports.runtime) : ports.runtime;
  const runtime = backOff === null ? asked : watchedRuntime(asked, backOff);
  const resting = backOff === null ? {} : { backOff };
  const { rootDir, podLogsDir } = settings;
  const podVolumesDir = `${rootDir}/pods`;
  const keepers = imageKeepers(settings, runtime, ports.imageConfigs ?? null, pods);
  const memory = policy.eviction.restart === 'remembers' ? (ports.memory ?? null) : null;
  const remembered = memory?.images ?? null;
  const arrivals = new Arrivals(clock);
  const afterCollection = afterCollectionOf(settings, policy, { ...ports, runtime });
  // The manager is made below: where images lie is asked for when a run begins.
  const imageDisk = () => deviceUnder('imagefs', manager.state.layout ?? 'one-disk');
  const { maxRemovalsPerPass: maxRemovals } = settings;
  const byMarks = isOurs ? { marks: { notices, maxRemovals, imageDisk } } : {};
  const imageCollector = createImageCollector({
    settings,
    policy,
    runtime,
    clock,
    ...keepers,
    ...resting,
    remembered,
    arrivals,
    afterCollection,
    ...byMarks,
  });
  const imageGC = createImageGC({
    collector: imageCollector,
    runtime,
    clock,
    minAge: settings.imageMinimumGCAge,
    sandboxImage: settings.sandboxImage,
    protectedImages: settings.protectedImages,
    protector: keepers.protector,
    // The kubelet asks neither pods nor the runtime.
    ...(policy.name === 'reclaimd' ? { claims: keepers.claims } : {}),
    ...resting,
  });
  // The runtime knows no limits: without another source of pods every pass would list them for nothing.
  const limitsAreKnown = settings.podsFrom !== null || settings.staticPodPath !== null;
  const storageLimits = {
    measure: (active: readonly PodRecord[], abort: AbortSignal) =>
      measurePodStorage({ runtime, files, clock, podLogsDir, podVolumesDir }, active, abort),
  };
  const { doubtfulNumbers } = policy.eviction;
  const looker = createLooker({ mounts, nodeStats, runtime, clock, rootDir, doubtfulNumbers });
  const notifiers = memoryNotifiers(settings, ports, () => {
    manager.wake();
  });
  const deviceOf = async (filesystem: FilesystemName) => {
    const look = await looker.lookAt(filesystem);
    return look.kind === 'reading' ? look.device : null;
  };
  const measuring = { runtime, files, clock, podLogsDir, podVolumesDir, deviceOf };
  const { processes } = ports;
  const meter = createPodMeter(
    processes === undefined ? measuring : { ...measuring, processes },
    ports.writeCounts ?? null,
  );
  const deathHints = new DeathHints();
  const { containerGC: limits, ownerScope } = settings;
  const containerPlanner = createContainerGC({
    runtime,
    pods,
    files,
    clock,
    limits,
    podLogsDir,
    ownerScope,
    ...resting,
  });
  const prepareLogs = orphanLogs({ ...ports, runtime }, settings);
  const deps: ManagerDeps = {
    ...warned,
    clock,
    ...(memory === null ? {} : { keeper: memory.keeper }),
    runtime,
    pods,
    imageGC,
    policy,
    looker,
    containerGC: withOrphanLogs(containerPlanner, prepareLogs, clock),
    killPod: aroundKill(
      createKillPodNow({
        runtime,
        files,
        clock,
        podLogsDir,
        podVolumesDir: () => (ports.kubeletRuns() ? null : podVolumesDir),
        ...(ports.processes === undefined ? {} : { processes: ports.processes }),
      }),
    ),
    measurePods: (active, signal, layout, abort) => meter.measure(active, signal, layout, abort),
    ...(ports.writeCounts === undefined ? {} : { meter }),
    ballast:
      settings.ballast === null || ports.ballast === undefined
        ? null
        : new Ballast({ port: ports.ballast, size: settings.ballast, clock }),
    protectedNamespaces: settings.protectedNamespaces,
    protectedPods: { priority: settings.protectedPriority, annotation: settings.protectedAnnotation },
    maxPodGrace: settings.maxPodGracePeriod,
    maxPodGraceSeconds: settings.configuredMaxPodGraceSeconds ?? 0,
    ...(settings.localStorageCapacityIsolation && limitsAreKnown ? { storageLimits } : {}),
    evictionOff: () => (ports.kubeletRuns() && !settings.evictBesideKubelet ? KUBELET_EVICTS : null),
    thresholds: settings.thresholds,
    notifiers,
    usesEvents: settings.usesRuntimeEvents,
    heard: ({ kind, id }) => {
      if (kind === 'stopped') deathHints.give(id);
    },
    transitionPeriod: settings.pressureTransitionPeriod,
    cadence: settings.sampling,
    fullWithin: settings.collectWhenFullWithin,
    pace: ports.ioPressure === undefined ? null : new Pace(ports.ioPressure, clock),
  };
  const manager = createManager(deps);
  const collectingDeps = { ...ports, runtime, settings, policy, imageCollector, deathHints, ...resting, ...warned };
  return {
    manager,
    planning: planningDeps(deps, ports, settings, { containerPlanner, imagePlanner: imageGC, arrivals, prepareLogs }),
    guard: admissionGuard(settings, { looker, clock }),
    notifiers: notifiers.map(({ description }) => description),
    afterCollection,
    stop() {
      manager.stop();
      for (const notifier of notifiers) notifier.stop();
    },
    collecting: (kubelet, signal) => collectingLoops(collectingDeps, kubelet, signal),
    runs: collectorRuns(collectingDeps, async () => ports.kubeletRuns()),
  };
}

function afterCollectionOf(
  settings: Settings,
  policy: Policy,
  { commands, runtime, clock }: Pick<NodePorts, 'commands' | 'runtime' | 'clock'>,
): AfterCollection | null {
  const words = settings.afterImageCollection;
  if (words.length === 0 || commands === undefined) return null;
  return new AfterCollection({ runtime, commands, clock, words, tells: policy.gc.afterCollection });
}
