import type { FsLayout } from '../../src/eviction/layout.js';
import { bytes, instant } from '../../src/units/units.js';
import { type FakeContainer, type FakePod, FakeWorld, type Layer, PATHS } from './fake-world.js';

export const MIB = 1024 * 1024;

/** A node whose disks hold 1000 MiB and 100,000 inodes each. */
export function emptyWorld(layout: FsLayout = 'one-disk'): FakeWorld {
  return new FakeWorld(layout, { bytes: 1_000 * MIB, inodes: 100_000 });
}

/** An image `name:1` with id `sha256:name` and one layer of its own, or the layers told. Listed with the size of its layers. */
export function putImage(
  world: FakeWorld,
  name: string,
  facts: {
    readonly mib?: number;
    readonly inodes?: number;
    readonly layers?: readonly Layer[];
    readonly pinned?: boolean;
    readonly tags?: readonly string[];
    readonly digests?: readonly string[];
  } = {},
): string {
  const own = { id: `layer-of-${name}`, bytes: (facts.mib ?? 10) * MIB, inodes: facts.inodes ?? 10 };
  const layers = facts.layers ?? [own];
  const id = `sha256:${name}`;
  world.addImage({
    id,
    tags: facts.tags ?? [`${name}:1`],
    digests: facts.digests ?? [],
    size: bytes(layers.reduce((sum, layer) => sum + layer.bytes, 0)),
    pinned: facts.pinned ?? false,
    runtimeHandler: '',
    layers,
  });
  return id;
}

/** A pod that the API server knows, with a sandbox. Its uid is its name. */
export function putPod(world: FakeWorld, name: string, facts: Partial<FakePod> & { volumeMib?: number } = {}): FakePod {
  const { volumeMib, ...known } = facts;
  const pod: FakePod = {
    uid: name,
    namespace: 'default',
    name,
    priority: 0,
    source: 'api',
    isMirror: false,
    terminationGrace: 30_000,
    storageRequest: 0,
    ...known,
  };
  world.pods.set(pod.uid, pod);
  putSandbox(world, pod);
  if (volumeMib !== undefined) world.setVolume(pod.uid, { bytes: volumeMib * MIB, inodes: 1 });
  return pod;
}

export function putSandbox(
  world: FakeWorld,
  pod: Pick<FakePod, 'uid' | 'namespace' | 'name'>,
  facts: { readonly id?: string; readonly state?: 'ready' | 'notready'; readonly createdAt?: number } = {},
): string {
  const id = facts.id ?? `sandbox-${pod.uid}`;
  world.sandboxes.set(id, {
    id,
    pod: { uid: pod.uid, namespace: pod.namespace, name: pod.name },
    attempt: 0,
    state: facts.state ?? 'ready',
    createdAt: instant(facts.createdAt ?? 1_000),
    runtimeHandler: '',
    labels: {},
    annotations: {},
  });
  return id;
}

/** A container of a pod: exited and of 10 MiB unless told otherwise. `of` null = nobody's; a pod nobody knows = gone. */
export function putContainer(
  world: FakeWorld,
  id: string,
  of: Pick<FakePod, 'uid' | 'namespace' | 'name'> | null,
  facts: Partial<Omit<FakeContainer, 'writable'>> & {
    readonly mib?: number;
    readonly logMib?: number;
    readonly inodes?: number;
  } = {},
): FakeContainer {
  const { mib = 10, logMib = 0, inodes = 10, ...known } = facts;
  const container: FakeContainer = {
    id,
    sandboxId: of === null ? 'sandbox-of-nobody' : `sandbox-${of.uid}`,
    name: id,
    attempt: 0,
    state: 'exited',
    createdAt: instant(1_000),
    imageId: known.base ?? '',
    imageRef: '',
    image: '',
    runtimeHandler: '',
    pod: of === null ? null : { uid: of.uid, namespace: of.namespace, name: of.name },
    labels: {},
    annotations: {},
    base: null,
    told: 'usage',
    imageVolumes: [],
    logPath: of === null ? '' : `${PATHS.logs}/${of.namespace}_${of.name}_${of.uid}/${id}/0.log`,
    ...known,
    writable: { bytes: mib * MIB, inodes },
  };
  world.addContainer(container, { bytes: logMib * MIB, inodes: 1 });
  return container;
}

/** A pod that the API server has forgotten. */
export const GONE = { uid: 'gone', namespace: 'default', name: 'gone' };
