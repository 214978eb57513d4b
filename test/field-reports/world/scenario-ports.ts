import type { ContainerSpec, PodSpec } from '../../../src/eviction/pod-spec.js';
import type { BallastPort } from '../../../src/ports/ballast.js';
import type { ContainerProcessesPort } from '../../../src/ports/container-processes.js';
import type { KillPod } from '../../../src/ports/kill.js';
import type { MountsPort } from '../../../src/ports/mounts.js';
import type { NodeStatsPort } from '../../../src/ports/node-stats.js';
import type { PodRecord, PodsPort } from '../../../src/ports/pods.js';
import { PortError } from '../../../src/ports/port-error.js';
import { parseQuantity } from '../../../src/units/quantity.js';
import { bytes, milliseconds } from '../../../src/units/units.js';
import type { PodItem } from '../format/world-items.js';
import type { LivingPod } from './inhabitants.js';
import type { ScenarioWorld } from './scenario-world.js';

/** Priority that the cluster gives the lower of its two critical classes. */
const CRITICAL = 2_000_000_000;

/** Looks at the filesystems of a scenario by path. */
export function scenarioMounts(world: ScenarioWorld): MountsPort {
  return {
    async look(path) {
      world.disks.settle();
      const { exists, filesystem, readOnly } = world.places.of(path);
      if (!exists) return { kind: 'missing', path, at: world.clock.now() };
      return world.disks.look(path, filesystem, readOnly);
    },
  };
}

/** Nothing tells memory and processes here, and no kubelet runs. */
export const NO_NODE_STATS: NodeStatsPort = {
  read: async () => ({
    memory: null,
    podsMemory: { kind: 'absent', why: 'nobody reads it' },
    pids: null,
    problems: [],
  }),
  memoryUsage: (scope) => Promise.reject(new PortError(`Cannot read the use of memory as nothing tells it: ${scope}`)),
  kubeletRuns: async () => false,
};

/** The ballast files of a scenario: there from the beginning, one on each filesystem. */
export function scenarioBallast(world: ScenarioWorld): BallastPort {
  const at = (directory: string) => world.places.of(directory).filesystem;
  return {
    held: async (directory) => bytes(world.ballastOn(at(directory))),
    release: async (directory) => bytes(world.releaseBallast(at(directory))),
    resize: async (directory, size) => bytes(world.layBallast(at(directory), size)),
  };
}

/** What processes of a scenario hold open in their layers, though it is deleted. */
export function scenarioProcesses(world: ScenarioWorld): ContainerProcessesPort {
  return {
    async look(ids) {
      world.disks.settle();
      const running = world.containers.filter(({ item, state }) => ids.includes(item.id) && state === 'running');
      return new Map(
        running.map(({ item }) => {
          const held = { bytes: item.deletedOpen.bytes, inodes: 0 };
          const deletedOpen = new Map(held.bytes === 0 ? [] : [[world.places.layers, held]]);
          return [item.id, { layerDirectory: null, deletedOpen, isComplete: true }];
        }),
      );
    },
  };
}

/** The pods of a scenario: its list is complete. */
export function scenarioPods(world: ScenarioWorld): PodsPort {
  return {
    async list(containers, sandboxes) {
      world.disks.settle();
      return world.pods.map((pod) => ({
        ...podRecord(pod, specOf(pod.item, world)),
        containers: containers.filter((each) => each.pod?.uid === pod.item.uid),
        sandboxes: sandboxes.filter((each) => each.pod.uid === pod.item.uid),
      }));
    },
    knowsAll: () => true,
    async wantedImages() {
      world.disks.settle();
      return world.pods
        .filter(({ phase }) => !isFinished(phase))
        .flatMap(({ item }) => item.imagesWanted.map((reference) => ({ reference, pod: item.name })));
    },
  };
}

/** Tells the world what is asked of pods, and then has the real end of pods run in it. */
export function watchedKill(world: ScenarioWorld): (kill: KillPod) => KillPod {
  return (kill) =>
    async function* watched(pod, grace, signal, hasten) {
      world.endPod(pod.uid, Math.ceil(grace / 1_000));
      const cut = () => {
        world.endPod(pod.uid, 0);
      };
      hasten?.addEventListener('abort', cut, { once: true });
      try {
        return yield* kill(pod, grace, signal, hasten);
      } finally {
        hasten?.removeEventListener('abort', cut);
      }
    };
}

/**
 * What the API server knows of a pod. There a whole pod asks for storage and is limited by its containers alone: what they do
 * not say by themselves is said by one more of them.
 */
export function specOf(item: PodItem, world: ScenarioWorld): PodSpec {
  const own = world.containers.filter(({ pod }) => pod?.uid === item.uid);
  const limits = new Map(own.map(({ name, item: { limit } }) => [name, limit?.['ephemeral-storage'] ?? 0] as const));
  const limited = [...limits.values()].reduce((sum, each) => sum + each, 0);
  const rest: ContainerSpec = {
    name: 'rest-of-the-pod',
    kind: 'regular',
    requests: storage(item.request?.['ephemeral-storage'] ?? 0),
    limits: storage(Math.max(0, (item.limit?.['ephemeral-storage'] ?? 0) - limited)),
  };
  return {
    containers: [
      ...[...limits].map(
        ([name, limit]): ContainerSpec => ({ name, kind: 'regular', requests: {}, limits: storage(limit) }),
      ),
      rest,
    ],
    podRequests: {},
    podLimits: {},
    overhead: {},
    volumes: item.volumes.map(({ name, type, medium, sizeLimit }) =>
      type === 'hostPath'
        ? { kind: 'hostPath', name }
        : {
            kind: 'emptyDir',
            name,
            medium,
            sizeLimit: sizeLimit === undefined ? null : parseQuantity(`${sizeLimit}`),
          },
    ),
    tolerations: [],
  };
}

function storage(amount: number): ContainerSpec['limits'] {
  return amount === 0 ? {} : { 'ephemeral-storage': parseQuantity(`${amount}`) };
}

/** A pod's station, as its source tells it. */
export function stationOf(item: PodItem): Pick<PodRecord, 'source' | 'isMirror' | 'priority'> {
  return {
    source: item.static ? 'file' : 'api',
    isMirror: item.mirror,
    priority: item.critical ? Math.max(item.priority, CRITICAL) : item.priority,
  };
}

function podRecord({ item, identity, phase }: LivingPod, spec: PodSpec): Omit<PodRecord, 'containers' | 'sandboxes'> {
  return {
    ...identity,
    ...stationOf(item),
    storageRequest: bytes(item.request?.['ephemeral-storage'] ?? 0),
    memoryRequest: null,
    spec,
    terminationGrace: milliseconds(item.terminationGrace * 1_000),
    isFinished: isFinished(phase),
    annotations: item.annotations,
    labels: {},
  };
}

function isFinished(phase: PodItem['phase']): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
