import { containerdImageContent } from '../adapters/containerd/image-content.js';
import { type CriRuntime, connectRuntime } from '../adapters/cri/client.js';
import { hostBallast } from '../adapters/host/ballast.js';
import { systemClock } from '../adapters/host/clock.js';
import { hostCommands } from '../adapters/host/command.js';
import { hostContainerProcesses } from '../adapters/host/container-processes.js';
import { type HostFiles, hostFiles } from '../adapters/host/files.js';
import { hostIoPressure } from '../adapters/host/io-pressure.js';
import { hostLogFiles } from '../adapters/host/log-files.js';
import { type HostMounts, hostMounts } from '../adapters/host/mounts.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import { combinedPods } from '../adapters/pods/combined-pods.js';
import type { Settings } from '../config/settings.js';
import type { Manager } from '../manager/manager.js';
import type { PlanningDeps } from '../manager/plan-removals.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerProcessesPort } from '../ports/container-processes.js';
import type { FilesPort } from '../ports/files.js';
import type { MountsPort } from '../ports/mounts.js';
import type { NodeStatsPort } from '../ports/node-stats.js';
import type { AdmissionGuard } from '../reclaim/admission-guard.js';
import type { AfterCollection } from '../reclaim/after-collection.js';
import type { Collecting } from './collecting.js';
import { composeNode } from './compose.js';
import { thisInstance } from './instance.js';
import type { KubeletWatch } from './kubelet-watch.js';
import { storedMemory } from './memory.js';

/** Parts that a caller may bring instead of the real ones: a demonstration whose disk is only accounted brings its own mounts. */
export interface Replacements {
  readonly mounts?: MountsPort;
  readonly clock?: Clock;
  readonly nodeStats?: NodeStatsPort;
  /** Whether a kubelet runs on the node. */
  kubeletRuns?(): Promise<boolean>;
}

/** What the caller found out about the node before building. */
export interface NodeFacts {
  /** The runtime's socket, as `unix:///…`. */
  readonly endpoint: string;
  /** Whether a kubelet runs beside us, as last looked for. */
  kubeletRuns(): boolean;
  /** A dry run: what is remembered is read and left as it is. */
  readonly changesNothing?: boolean;
}

/** Everything a running daemon consists of. Closing it ends what it opened, in reverse order. */
export interface Parts extends AsyncDisposable {
  readonly clock: Clock;
  readonly runtime: CriRuntime;
  readonly files: FilesPort;
  readonly processes: ContainerProcessesPort;
  readonly nodeStats: NodeStatsPort;
  readonly manager: Manager;
  /** What removals are planned by hand with. */
  readonly planning: PlanningDeps;
  /** Refuses new pods while a disk is nearly full; null = it is not configured. */
  readonly guard: AdmissionGuard | null;
  /** Runs the operator's program after collections; null = none is configured. */
  readonly afterCollection: AfterCollection | null;
  /** What wakes the manager when the use of memory crosses a line, each by its name. */
  readonly notifiers: readonly string[];
  /** What goes on without pressure, to be run beside the manager. See `collectingLoops`. */
  collecting(kubelet: KubeletWatch, signal: AbortSignal): Collecting;
  /** Calls on local disks that hang in threads of this process; while there are any, an ordinary exit would wait for them. */
  stuckCalls(): number;
}

/** The composition root: makes the ports real, and the manager out of them. Nothing runs yet. */
export function buildParts(settings: Settings, facts: NodeFacts, replacements: Replacements = {}): Parts {
  const clock = replacements.clock ?? systemClock();
  const runtime = connectRuntime({
    endpoint: facts.endpoint,
    requestTimeout: settings.runtimeRequestTimeout,
    now: () => clock.wall(),
  });
  const files: HostFiles = hostFiles();
  const processes = hostContainerProcesses({ clock });
  const ownMounts: HostMounts | null = replacements.mounts === undefined ? hostMounts({ clock }) : null;
  const mounts = replacements.mounts ?? ownMounts;
  if (mounts === null) throw new Error('Cannot build the daemon as it needs a way to look at mounts: null');
  const watchesPods = settings.thresholds.some(({ signal }) => signal === 'allocatableMemory.available');
  const podsCgroups = watchesPods ? settings.podsCgroup.names : [];
  const nodeStats = replacements.nodeStats ?? hostNodeStats({ clock, podsCgroups });
  const logFiles = hostLogFiles();
  const ballast = hostBallast(thisInstance());
  const stored = storedMemory(settings, clock, facts.changesNothing ?? false);
  const node = composeNode(settings, {
    clock,
    runtime,
    mounts,
    nodeStats,
    files,
    processes,
    writeCounts: processes,
    logFiles,
    changeTimes: logFiles,
    ballast,
    pods: combinedPods({ ...settings, clock }),
    imageConfigs: runtime,
    commands: hostCommands({ clock }),
    ioPressure: hostIoPressure(),
    imageContent: containerdImageContent(runtime),
    ...(stored === null ? {} : { memory: stored.memory }),
    kubeletRuns: () => facts.kubeletRuns(),
  });
  return {
    clock,
    runtime,
    files,
    processes,
    nodeStats,
    manager: node.manager,
    planning: node.planning,
    guard: node.guard,
    notifiers: node.notifiers,
    afterCollection: node.afterCollection,
    collecting: (kubelet, signal) => node.collecting(kubelet, signal),
    stuckCalls: () => ownMounts?.stuckHere() ?? 0,
    async [Symbol.asyncDispose]() {
      node.stop();
      await stored?.[Symbol.asyncDispose]();
      await runtime.close();
      ownMounts?.[Symbol.dispose]();
      await ballast[Symbol.asyncDispose]();
      await files[Symbol.asyncDispose]();
      await processes[Symbol.asyncDispose]();
    },
  };
}
