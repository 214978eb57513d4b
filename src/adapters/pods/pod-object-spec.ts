import { podRequest } from '../../eviction/pod-resources.js';
import type {
  Amounts,
  ContainerKind,
  ContainerSpec,
  PodSpec,
  Toleration,
  VolumeSpec,
} from '../../eviction/pod-spec.js';
import { quantityOf } from '../../units/quantity.js';
import { type ValueMap, type ValuePath, type ValueReader, valueOf } from './value-reader.js';

/** What a pod's author wrote, and the images that it names. */
export interface WrittenSpec {
  readonly spec: PodSpec;
  readonly images: readonly string[];
}

/**
 * Reads the spec of a Pod object. As the API does, a request that is not given is taken from the limit of the same resource
 * (`SetDefaults_Pod`): nobody else does it for a manifest, and for other pods it changes nothing. Faults are left in `read`.
 */
export function readPodSpec(read: ValueReader, spec: ValueMap, at: ValuePath): WrittenSpec {
  const images: string[] = [];
  const containersOf = (key: string, kindOf: (container: ValueMap) => ContainerKind): ContainerSpec[] =>
    read.list(valueOf(spec, key), [...at, key]).flatMap((value, index) => {
      const path = [...at, key, index];
      const container = read.map(value, path);
      if (container === null) return [];
      const image = read.text(valueOf(container, 'image'), [...path, 'image']);
      if (image !== null && image !== '') images.push(image);
      const name = read.text(valueOf(container, 'name'), [...path, 'name']) ?? '';
      return [{ name, kind: kindOf(container), ...resourcesOf(read, container, path) }];
    });
  const containers = [
    ...containersOf('initContainers', (each) => (valueOf(each, 'restartPolicy') === 'Always' ? 'sidecar' : 'init')),
    ...containersOf('containers', () => 'regular'),
    ...containersOf('ephemeralContainers', () => 'ephemeral'),
  ].map((each) => ({ ...each, requests: { ...each.limits, ...each.requests } }));
  const own = resourcesOf(read, spec, at);
  return {
    spec: {
      containers,
      podRequests: podRequestsOf(containers, own.requests, own.limits),
      podLimits: own.limits,
      overhead: read.amounts(valueOf(spec, 'overhead'), [...at, 'overhead']),
      volumes: read
        .list(valueOf(spec, 'volumes'), [...at, 'volumes'])
        .flatMap((value, index) => volumeOf(read, value, [...at, 'volumes', index])),
      tolerations: read
        .list(valueOf(spec, 'tolerations'), [...at, 'tolerations'])
        .flatMap((value, index) => tolerationOf(read, value, [...at, 'tolerations', index])),
    },
    images,
  };
}

function resourcesOf(read: ValueReader, owner: ValueMap, at: ValuePath): { requests: Amounts; limits: Amounts } {
  const path = [...at, 'resources'];
  const resources = read.map(valueOf(owner, 'resources'), path);
  return {
    requests: read.amounts(valueOf(resources, 'requests'), [...path, 'requests']),
    limits: read.amounts(valueOf(resources, 'limits'), [...path, 'limits']),
  };
}

/**
 * Requests of the pod as a whole. With a limit for the whole, memory that is not requested for the whole is what the containers
 * request together, and the limit where they request none. Mirrors `defaultPodRequests`.
 */
function podRequestsOf(containers: readonly ContainerSpec[], requests: Amounts, limits: Amounts): Amounts {
  if (Object.keys(limits).length === 0) return requests;
  const none = { podRequests: {}, podLimits: {}, overhead: {}, volumes: [], tolerations: [] };
  const together = podRequest({ ...none, containers }, 'memory');
  const memory = together > 0 ? { memory: quantityOf(BigInt(Math.ceil(together)), 'binary') } : {};
  return { ...limits, ...memory, ...requests };
}

function volumeOf(read: ValueReader, value: unknown, path: ValuePath): VolumeSpec[] {
  const volume = read.map(value, path);
  if (volume === null) return [];
  const name = read.text(valueOf(volume, 'name'), [...path, 'name']) ?? '';
  const kinds = Object.keys(volume).filter((key) => key !== 'name' && valueOf(volume, key) !== null);
  // A volume that says nothing more is an emptyDir (`SetDefaults_Volume`).
  if (kinds.length === 0) return [{ kind: 'emptyDir', name, medium: '', sizeLimit: null }];
  if (kinds.includes('emptyDir')) {
    const at = [...path, 'emptyDir'];
    const emptyDir = read.map(valueOf(volume, 'emptyDir'), at);
    const medium = read.text(valueOf(emptyDir, 'medium'), [...at, 'medium']) ?? '';
    const sizeLimit = read.quantity(valueOf(emptyDir, 'sizeLimit'), [...at, 'sizeLimit']);
    return [{ kind: 'emptyDir', name, medium, sizeLimit }];
  }
  const known = (['configMap', 'gitRepo', 'hostPath'] as const).find((kind) => kinds.includes(kind));
  return [{ kind: known ?? 'other', name }];
}

/** One with an operator that is not known here puts up with nothing that is asked about. */
function tolerationOf(read: ValueReader, value: unknown, path: ValuePath): Toleration[] {
  const toleration = read.map(value, path);
  const text = (key: string) => read.text(valueOf(toleration, key), [...path, key]) ?? '';
  const operator = text('operator') || 'Equal';
  if (toleration === null || (operator !== 'Exists' && operator !== 'Equal')) return [];
  return [{ key: text('key') || null, operator, value: text('value'), effect: text('effect') || null }];
}
