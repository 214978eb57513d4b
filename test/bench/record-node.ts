import { criPods } from '../../src/adapters/pods/cri-pods.js';
import { LineBook } from '../../src/eviction/evaluate.js';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { INITIAL_STATE } from '../../src/eviction/state.js';
import { runPass } from '../../src/manager/cycle.js';
import { Kills } from '../../src/manager/kills.js';
import { createLooker } from '../../src/manager/look.js';
import type { CycleDeps } from '../../src/manager/pass.js';
import type { FilesPort } from '../../src/ports/files.js';
import type { MountsPort } from '../../src/ports/mounts.js';
import type { NodeStatsPort } from '../../src/ports/node-stats.js';
import type { RuntimePort } from '../../src/ports/runtime.js';
import { createContainerGC } from '../../src/reclaim/container-gc.js';
import { createImageGC } from '../../src/reclaim/image-gc.js';
import { LateSpace } from '../../src/reclaim/late-space.js';
import { measurePods } from '../../src/reclaim/pod-usage.js';
import { bytes, count, type Instant, instant, milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
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
const DIRECTORIES = { podLogsDir: '/var/log/pods', podVolumesDir: '/var/lib/kubelet/pods' };
/** Dead containers in all that stay: so few that all rules have something to do. */
const MAX_CONTAINERS = 1_000;
const PAUSE_MS = 100;

/** A node of one disk that is nearly full, in the profile reclaimd. */
export function recordNode(): RecordNode {
  const clock = new VirtualClock(MADE_UNTIL + 60_000);
  let listed: NodeRecords = { containers: [], sandboxes: [], images: [], usage: [] };
  const runtime = runtimeOf(() => listed);
  const pods = criPods();
  const settings = {
    thresholds: [
      threshold('nodefs.available', '10%'),
      threshold('nodefs.inodesFree', '5%'),
      threshold('imagefs.available', '15%'),
      threshold('memory.available', '100Mi'),
    ],
    transitionPeriod: milliseconds(300_000),
    policy: POLICIES.reclaimd,
    lines: new LineBook(),
  };
  const deps: CycleDeps = {
    clock,
    runtime,
    pods,
    looker: createLooker({
      mounts: mountsAt(() => clock.now()),
      nodeStats: statsAt(() => clock.now()),
      runtime,
      clock,
      rootDir: '/var/lib/kubelet',
    }),
    containerGC: createContainerGC({
      runtime,
      pods,
      files: FILES,
      clock,
      limits: { minAge: milliseconds(0), maxPerPodContainer: 1, maxContainers: MAX_CONTAINERS },
      ...DIRECTORIES,
    }),
    imageGC: createImageGC({
      runtime,
      clock,
      minAge: milliseconds(0),
      sandboxImage: 'registry.k8s.io/pause:3.10',
      protectedImages: ['registry.k8s.io/*', '*/team-7/*', 'registry.example.org/team-9/app-9:1.2'],
    }),
    killPod: () => {
      throw new Error('Cannot end a pod as the node is made of records');
    },
    measurePods: (active, signal, layout, abort) =>
      measurePods({ runtime, files: FILES, clock, ...DIRECTORIES }, active, signal, layout, abort),
    kills: new Kills(),
    late: new LateSpace(),
    settingsFor: () => settings,
    protectedNamespaces: ['kube-system', 'team-3'],
    maxPodGrace: null,
    evictionOff: () => null,
  };
  let state = INITIAL_STATE;
  return {
    async pass(records, whenPlanned) {
      listed = records;
      clock.skip(PAUSE_MS);
      const events: EvictionEvent[] = [];
      const running = runPass(deps, state, 'dry-run', new AbortController().signal);
      for (;;) {
        const next = await running.next();
        if (next.done === true) {
          state = next.value;
          return events;
        }
        // A dry run makes the whole plan, the ranking with it, and then tells it, one event for each container and image.
        if (next.value.kind === 'would-remove' && events.at(-1)?.kind !== 'would-remove') whenPlanned();
        events.push(next.value);
      }
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
