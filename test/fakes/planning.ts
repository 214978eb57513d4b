import { type ImageContent, NO_CONTENT } from '../../src/gc/image-content.js';
import type { OwnerScope } from '../../src/gc/owner-scope.js';
import type { PlanningDeps, PlanPlace } from '../../src/manager/plan-removals.js';
import { createContainerGC } from '../../src/reclaim/container-gc.js';
import { createImageGC } from '../../src/reclaim/image-gc.js';
import { prepareOrphanLogs } from '../../src/reclaim/orphan-logs.js';
import { type Bytes, bytes, type Instant, milliseconds } from '../../src/units/units.js';
import type { FakeNode } from './fake-node.js';
import { type FakeWorld, PATHS } from './fake-world.js';

export const HERE: PlanPlace = {
  node: { hostname: 'node-1', machineId: '0'.repeat(32) },
  endpoint: 'unix:///run/fake.sock',
  runtime: 'fake 1.0',
};

/** What an image's manifest and configuration take in the world. */
const IMAGE_RECORD = 4_096;

/** What planning by hand works with on a node in memory. */
export function planningOf(
  node: FakeNode,
  wishes: {
    readonly protectedImages?: readonly string[];
    readonly sandboxImage?: string;
    readonly minAge?: number;
    readonly kubeletRuns?: boolean;
    readonly ownerScope?: OwnerScope;
    /** Whether somebody tells what images share. */
    readonly tellsContent?: boolean;
    /** When each log directory changed; unknown unless told. */
    readonly changedAt?: (path: string) => Instant | null;
  } = {},
): PlanningDeps {
  const { world, runtime, files, pods } = node;
  const { clock } = world;
  const limits = { minAge: milliseconds(0), maxPerPodContainer: null, maxContainers: null };
  const ownerScope = wishes.ownerScope ?? 'all';
  const logFiles = {
    list: async (directory: string) => childrenOf(world, directory),
    size: async (path: string) => {
      const log = world.logs.get(path);
      return log === undefined ? null : bytes(log.bytes);
    },
    changedAt: async (path: string) => wishes.changedAt?.(path) ?? null,
  };
  return {
    ...node.deps,
    containerPlanner: createContainerGC({
      runtime,
      pods,
      files,
      clock,
      limits,
      podLogsDir: PATHS.logs,
      ownerScope,
    }),
    imagePlanner: createImageGC({
      runtime,
      clock,
      minAge: milliseconds(wishes.minAge ?? 0),
      sandboxImage: wishes.sandboxImage ?? null,
      protectedImages: wishes.protectedImages ?? [],
    }),
    prepareLogs: (abort) =>
      prepareOrphanLogs(
        {
          runtime,
          pods,
          files,
          logFiles,
          clock,
          podLogsDir: PATHS.logs,
          ownerScope,
          kubeletRuns: () => wishes.kubeletRuns ?? false,
        },
        abort,
      ),
    logFiles,
    imageContent: wishes.tellsContent === false ? null : { imageContent: async () => contentOf(world) },
    arrivals: null,
    imageConfigs: null,
    limits,
    ownerScope,
  };
}

/** What the world's images keep on the disk, and what containers keep as well. */
export function contentOf(world: FakeWorld): ImageContent {
  const sizes = new Map<string, Bytes>();
  const parts = new Map<string, readonly string[]>();
  for (const { id, layers } of world.images.values()) {
    sizes.set(`record ${id}`, bytes(IMAGE_RECORD));
    for (const layer of layers) {
      for (const part of [`blob ${layer.id}`, `snapshot ${layer.id}`]) sizes.set(part, bytes(layer.bytes));
    }
    parts.set(id, [`record ${id}`, ...layers.flatMap((each) => [`blob ${each.id}`, `snapshot ${each.id}`])]);
  }
  const bases = [...world.containers.values()].flatMap(({ base, imageVolumes }) => [base ?? '', ...imageVolumes]);
  const mounted = bases.flatMap((id) => world.images.get(id)?.layers ?? []);
  const layers = new Set([...sizes.keys()].filter((part) => part.startsWith('snapshot ')));
  return {
    ...NO_CONTENT,
    parts,
    bytes: sizes,
    layers,
    keptElsewhere: new Set(mounted.map((each) => `snapshot ${each.id}`)),
  };
}

/** The names in a directory of logs. */
export function childrenOf(world: FakeWorld, directory: string): readonly string[] {
  const prefix = `${directory}/`;
  const below = [...world.logs.keys()].filter((path) => path.startsWith(prefix));
  return [...new Set(below.map((path) => path.slice(prefix.length).split('/')[0] ?? ''))];
}
