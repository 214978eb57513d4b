import type { PodSpec } from '../../eviction/pod-spec.js';
import type { PodSource } from '../../ports/pods.js';
import { type Milliseconds, milliseconds } from '../../units/units.js';
import { readPodSpec } from './pod-object-spec.js';
import { type ValueFault, type ValueMap, type ValuePath, ValueReader, valueOf } from './value-reader.js';

/** What a Pod object of the API says, as far as it is asked here. What it does not say is null. */
export interface PodFacts {
  /** Null in a manifest: the kubelet makes one up. */
  readonly uid: string | null;
  readonly namespace: string | null;
  readonly name: string;
  readonly source: PodSource | null;
  readonly isMirror: boolean;
  /** Uid of the static pod that this one is or mirrors. */
  readonly configHash: string | null;
  readonly priority: number | null;
  readonly terminationGrace: Milliseconds | null;
  /** What whoever deletes it gives it; null = nobody does, or does not say. */
  readonly deletionGrace: Milliseconds | null;
  readonly isBeingDeleted: boolean;
  /** `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`. */
  readonly phase: string | null;
  /** References of the images it wants, init containers' too. */
  readonly images: readonly string[];
  /** Null when part of it cannot be used: half of what a pod asks for is not what it asks for. */
  readonly spec: PodSpec | null;
}

/** What was made of one object. Without facts it is no pod that could be told from others. */
export interface PodReading {
  readonly facts: PodFacts | null;
  readonly faults: readonly ValueFault[];
}

/** Priorities of the two classes that every cluster has; a manifest may name them, and nobody puts in the number there. */
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

const SOURCES: readonly PodSource[] = ['api', 'file', 'http'];

/** What the API server takes a negative grace for. */
const SHORTEST_GRACE_SECONDS = 1;

/** Reads a Pod object. Unknown fields are passed over; wrong ones are named by their path below `at`. */
export function readPod(value: unknown, at: ValuePath = []): PodReading {
  const read = new ValueReader();
  const pod = read.map(value, at);
  const metadata = read.map(valueOf(pod, 'metadata'), [...at, 'metadata']);
  const spec = read.map(valueOf(pod, 'spec'), [...at, 'spec']);
  const name = read.text(valueOf(metadata, 'name'), [...at, 'metadata', 'name']);
  if (name === null || name === '') {
    const rule = 'a pod must have a name';
    return { facts: null, faults: [...read.faults, { path: [...at, 'metadata', 'name'], rule, value: '' }] };
  }
  const annotations = read.map(valueOf(metadata, 'annotations'), [...at, 'metadata', 'annotations']);
  const annotation = (key: string) => read.text(valueOf(annotations, key), [...at, 'metadata', 'annotations', key]);
  const source = annotation('kubernetes.io/config.source');
  const seconds = (map: ValueMap | null, path: ValuePath, key: string) =>
    graceOf(read.integer(valueOf(map, key), [...at, ...path, key]));
  const status = read.map(valueOf(pod, 'status'), [...at, 'status']);
  const faultsBefore = read.faults.length;
  const written = spec === null ? null : readPodSpec(read, spec, [...at, 'spec']);
  const isWhole = read.faults.length === faultsBefore;
  const facts: PodFacts = {
    uid: read.text(valueOf(metadata, 'uid'), [...at, 'metadata', 'uid']),
    namespace: read.text(valueOf(metadata, 'namespace'), [...at, 'metadata', 'namespace']),
    name,
    source: SOURCES.find((each) => each === source) ?? null,
    isMirror: valueOf(annotations, 'kubernetes.io/config.mirror') !== null,
    configHash: annotation('kubernetes.io/config.hash'),
    priority: priorityOf(read, spec, [...at, 'spec']),
    terminationGrace: seconds(spec, ['spec'], 'terminationGracePeriodSeconds'),
    deletionGrace: seconds(metadata, ['metadata'], 'deletionGracePeriodSeconds'),
    isBeingDeleted: valueOf(metadata, 'deletionTimestamp') !== null,
    phase: read.text(valueOf(status, 'phase'), [...at, 'status', 'phase']),
    images: written?.images ?? [],
    spec: isWhole ? (written?.spec ?? null) : null,
  };
  return { facts, faults: read.faults };
}

function priorityOf(read: ValueReader, spec: ValueMap | null, at: ValuePath): number | null {
  const priority = read.integer(valueOf(spec, 'priority'), [...at, 'priority']);
  if (priority !== null) return priority;
  const className = read.text(valueOf(spec, 'priorityClassName'), [...at, 'priorityClassName']);
  return className === null ? null : (SYSTEM_CLASSES.get(className) ?? null);
}

function graceOf(seconds: number | null): Milliseconds | null {
  return seconds === null ? null : milliseconds((seconds < 0 ? SHORTEST_GRACE_SECONDS : seconds) * 1_000);
}
