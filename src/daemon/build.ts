import { type CriRuntime, connectRuntime } from '../adapters/cri/client.js';
import { systemClock } from '../adapters/host/clock.js';
import { type HostFiles, hostFiles } from '../adapters/host/files.js';
import { hostLogFiles } from '../adapters/host/log-files.js';
import { type HostMounts, hostMounts } from '../adapters/host/mounts.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import { combinedPods } from '../adapters/pods/combined-pods.js';
import type { Settings } from '../config/settings.js';
import { POLICIES } from '../eviction/policy.js';
import type { Signal } from '../eviction/signal.js';
import { createLooker } from '../manager/look.js';
import { createManager, type Manager } from '../manager/manager.js';
import type { Clock } from '../ports/clock.js';
import type { MountsPort } from '../ports/mounts.js';
import type { NodeStatsPort } from '../ports/node-stats.js';
import type { PodRecord } from '../ports/pods.js';
import { createContainerGC } from '../reclaim/container-gc.js';
import { createImageGC } from '../reclaim/image-gc.js';
import { createKillPodNow } from '../reclaim/kill-pod-now.js';
import { measurePodStorage } from '../reclaim/pod-storage.js';
import { measurePods } from '../reclaim/pod-usage.js';
import { type Collecting, collectingLoops, createImageCollector } from './collecting.js';
import type { KubeletWatch } from './kubelet-watch.js';

/** Parts that a caller may bring instead of the real ones: a demonstration whose disk is only accounted brings its own mounts. */
export interface Replacements {
  readonly mounts?: MountsPort;
  readonly clock?: Clock;
  /** Whether a kubelet runs on the node. */
  kubeletRuns?(): Promise<boolean>;
}

/** What the caller found out about the node before building. */
export interface NodeFacts {
  /** The runtime's socket, as `unix:///…`. */
  readonly endpoint: string;
  /** Whether a kubelet runs beside us, as last looked for. */
  kubeletRuns(): boolean;
}

/** Everything a running daemon consists of. Closing it ends what it opened, in reverse order. */
export interface Parts extends AsyncDisposable {
  readonly clock: Clock;
  readonly runtime: CriRuntime;
  readonly nodeStats: NodeStatsPort;
  readonly manager: Manager;
  /** What goes on without pressure, to be run beside the manager. See `collectingLoops`. */
  collecting(kubelet: KubeletWatch, signal: AbortSignal): Collecting;
  /** Calls on local disks that hang in threads of this process; while there are any, an ordinary exit would wait for them. */
  stuckCalls(): number;
}

/** The pods' cgroup is not read yet: a line on it would be unknown for ever, and warned about. */
const UNMEASURED: Signal = 'allocatableMemory.available';

/** Why pods are not evicted beside a kubelet. */
const KUBELET_EVICTS = 'a kubelet runs on this node and evicts pods itself (evictBesideKubelet is off)';

/** The composition root: makes the ports real, and the manager out of them. Nothing runs yet. */
export function buildParts(settings: Settings, node: NodeFacts, replacements: Replacements = {}): Parts {
  const clock = replacements.clock ?? systemClock();
  const runtime = connectRuntime({
    endpoint: node.endpoint,
    requestTimeout: settings.runtimeRequestTimeout,
    now: () => clock.wall(),
  });
  const files: HostFiles = hostFiles();
  const ownMounts: HostMounts | null = replacements.mounts === undefined ? hostMounts({ clock }) : null;
  const mounts = replacements.mounts ?? ownMounts;
  if (mounts === null) throw new Error('Cannot build the daemon as it needs a way to look at mounts: null');
  const nodeStats = hostNodeStats({ clock });
  const policy = POLICIES[settings.profile];
  const { rootDir, podLogsDir } = settings;
  const podVolumesDir = `${rootDir}/pods`;
  const pods = combinedPods({ ...settings, clock });
  const imageCollector = createImageCollector({ settings, policy, runtime, clock });
  const imageGC = createImageGC({
    collector: imageCollector,
    runtime,
    clock,
    minAge: settings.imageMinimumGCAge,
    sandboxImage: settings.sandboxImage,
    protectedImages: settings.protectedImages,
  });
  // The runtime knows no limits: without another source of pods every pass would list them for nothing.
  const limitsAreKnown = settings.podsFrom !== null || settings.staticPodPath !== null;
  const storageLimits = {
    measure: (active: readonly PodRecord[], abort: AbortSignal) =>
      measurePodStorage({ runtime, files, clock, podLogsDir, podVolumesDir }, active, abort),
  };
  const manager = createManager({
    clock,
    runtime,
    pods,
    imageGC,
    policy,
    looker: createLooker({
      mounts,
      nodeStats,
      runtime,
      clock,
      rootDir,
      doubtfulNumbers: policy.eviction.doubtfulNumbers,
    }),
    containerGC: createContainerGC({
      runtime,
      pods,
      files,
      clock,
      limits: settings.containerGC,
      podLogsDir,
      ownerScope: settings.ownerScope,
    }),
    killPod: createKillPodNow({
      runtime,
      files,
      clock,
      podLogsDir,
      podVolumesDir: () => (node.kubeletRuns() ? null : podVolumesDir),
    }),
    measurePods: (active, signal, layout, abort) =>
      measurePods({ runtime, files, clock, podLogsDir, podVolumesDir }, active, signal, layout, abort),
    protectedNamespaces: settings.protectedNamespaces,
    protectedPods: { priority: settings.protectedPriority, annotation: settings.protectedAnnotation },
    maxPodGrace: settings.maxPodGracePeriod,
    maxPodGraceSeconds: settings.configuredMaxPodGraceSeconds ?? 0,
    ...(settings.localStorageCapacityIsolation && limitsAreKnown ? { storageLimits } : {}),
    evictionOff: () => (node.kubeletRuns() && !settings.evictBesideKubelet ? KUBELET_EVICTS : null),
    thresholds: settings.thresholds.filter((each) => each.signal !== UNMEASURED),
    transitionPeriod: settings.pressureTransitionPeriod,
    cadence: settings.sampling,
  });
  return {
    clock,
    runtime,
    nodeStats,
    manager,
    collecting: (kubelet, signal) =>
      collectingLoops(
        { settings, policy, runtime, pods, files, logFiles: hostLogFiles(), mounts, clock, imageCollector },
        kubelet,
        signal,
      ),
    stuckCalls: () => ownMounts?.stuckHere() ?? 0,
    async [Symbol.asyncDispose]() {
      manager.stop();
      await runtime.close();
      ownMounts?.[Symbol.dispose]();
      await files[Symbol.asyncDispose]();
    },
  };
}
