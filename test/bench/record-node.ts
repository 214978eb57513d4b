import { criPods } from '../../src/adapters/pods/cri-pods.js';
import { loadSettings } from '../../src/config/load.js';
import { composeNode } from '../../src/daemon/compose.js';
import type { EvictionEvent } from '../../src/eviction/event.js';
import type { FilesPort } from '../../src/ports/files.js';
import type { LogFilesPort } from '../../src/ports/log-files.js';
import type { MountsPort } from '../../src/ports/mounts.js';
import type { NodeStatsPort } from '../../src/ports/node-stats.js';
import type { RuntimePort } from '../../src/ports/runtime.js';
import { bytes, count, type Instant, instant } from '../../src/units/units.js';
import { VirtualClock } from '../fakes/virtual-clock.js';
import { MADE_UNTIL, type NodeRecords } from './node-records.js';

/** The real passes over records in memory: whatever the outside is asked, it answers at once. */
export interface RecordNode {
  /**
   * One pass that plans all that would go and ranks all pods, and changes nothing; with these records as the lists.
   * `whenPlanned` is called when the plan stands, before any of it is told.
   */
  pass(records: NodeRecords, whenPlanned: () => void): Promise<readonly EvictionEvent[]>;
}

const GIB = 2 ** 30;
const PAUSE_MS = 100;
/** So few dead containers stay that all rules have something to do; the other limits stay as they are by default. */
const SETTINGS = `
evictionHard:
  nodefs.available: 10%
  nodefs.inodesFree: 5%
  imagefs.available: 15%
  memory.available: 100Mi
containerGC: { minAge: 0s, maxPerPodContainer: 1, maxContainers: 1000 }
imageMinimumGCAge: 0s
sandboxImage: registry.k8s.io/pause:3.10
protectedImages: [registry.k8s.io/*, '*/team-7/*', registry.example.org/team-9/app-9:1.2]
protectedNamespaces: [kube-system, team-3]
`;

/** A node of one disk that is nearly full, in the profile reclaimd, composed as the daemon composes it. */
export function recordNode(): RecordNode {
  const loaded = loadSettings({ file: { path: 'bench.yaml', text: SETTINGS } });
  if (loaded.kind === 'refused') {
    const said = loaded.problems.map(({ message }) => message).join('; ');
    throw new Error(`Cannot measure passes as their settings must be good: ${said}`);
  }
  const clock = new VirtualClock(MADE_UNTIL + 60_000);
  let listed: NodeRecords = { containers: [], sandboxes: [], images: [], usage: [] };
  const { manager } = composeNode(loaded.settings, {
    clock,
    runtime: runtimeOf(() => listed),
    pods: criPods(),
    mounts: mountsAt(() => clock.now()),
    nodeStats: statsAt(() => clock.now()),
    files: FILES,
    logFiles: LOG_FILES,
    kubeletRuns: () => false,
  });
  return {
    async pass(records, whenPlanned) {
      listed = records;
      clock.skip(PAUSE_MS);
      const events: EvictionEvent[] = [];
      for await (const event of manager.once('dry-run')) {
        // A dry run makes the whole plan, the ranking with it, and then tells it, one event for each container and image.
        if (event.kind === 'would-remove' && events.at(-1)?.kind !== 'would-remove') whenPlanned();
        events.push(event);
      }
      return events;
    },
  };
}

function runtimeOf(listed: () => NodeRecords): RuntimePort {
  const filesystems = [{ mountpoint: '/var/lib/containerd', usedBytes: null, inodesUsed: null, at: null }];
  return {
    identify: async () => ({ name: 'records', version: '1', apiVersion: 'v1' }),
    listContainers: async () => listed().containers,
    listSandboxes: async () => listed().sandboxes,
    listImages: async () => listed().images,
    listContainerUsage: async () => listed().usage,
    imageFsInfo: async () => ({ imageFilesystems: filesystems, containerFilesystems: [] }),
    containerStatus: async (id) => ({
      id,
      state: 'exited',
      logPath: '',
      exitCode: 0,
      reason: '',
      startedAt: null,
      finishedAt: instant(MADE_UNTIL),
      imageVolumes: [],
      annotations: {},
    }),
    imageStatus: async () => null,
    stopContainer: refuse,
    removeContainer: refuse,
    reopenContainerLog: refuse,
    stopSandbox: refuse,
    removeSandbox: refuse,
    removeImage: refuse,
    freeRemoved: async () => false,
    async *events() {},
  };
}

const FILES: FilesPort = {
  usage: async (path) => ({ bytes: bytes(path.length << 20), inodes: count(path.length), complete: true }),
  removeTree: refuse,
  removeLogs: refuse,
};

const LOG_FILES: LogFilesPort = {
  list: async () => null,
  size: async () => null,
  rename: refuse,
  remove: refuse,
  compress: refuse,
};

function refuse(): Promise<never> {
  return Promise.reject(new Error('Cannot change anything as the node is made of records'));
}

function mountsAt(now: () => Instant): MountsPort {
  return {
    look: async () => ({
      kind: 'reading',
      device: '8:1',
      available: bytes(4 * GIB),
      capacity: bytes(100 * GIB),
      inodes: { free: count(5_000_000), total: count(6_000_000) },
      readOnly: false,
      at: now(),
    }),
  };
}

function statsAt(now: () => Instant): NodeStatsPort {
  return {
    read: async () => ({
      memory: {
        available: bytes(8 * GIB),
        capacity: bytes(16 * GIB),
        workingSet: bytes(8 * GIB),
        usage: bytes(9 * GIB),
        at: now(),
      },
      podsMemory: { kind: 'absent', why: 'there is no cgroup kubepods' },
      pids: { available: 30_000, capacity: count(32_768), at: now() },
      problems: [],
    }),
    memoryUsage: async () => bytes(9 * GIB),
    kubeletRuns: async () => false,
  };
}
