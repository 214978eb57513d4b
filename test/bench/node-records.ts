import { createHash } from 'node:crypto';
import type { ContainerRecord, ContainerUsage, ImageRecord, SandboxRecord } from '../../src/ports/runtime.js';
import { bytes, count, instant } from '../../src/units/units.js';

/** How large a node is. */
export interface NodeSize {
  readonly containers: number;
  readonly images: number;
  readonly pods: number;
}

/** What a runtime lists of a node. */
export interface NodeRecords {
  readonly containers: readonly ContainerRecord[];
  readonly sandboxes: readonly SandboxRecord[];
  readonly images: readonly ImageRecord[];
  readonly usage: readonly ContainerUsage[];
}

/** When the newest container was made. */
export const MADE_UNTIL = instant(1_700_000_000_000);

const NAMES = ['app', 'proxy', 'exporter', 'init'];
const SECOND = 1_000;
/** One pod in so many has finished. */
const FINISHED_EVERY = 10;
/** One container in so many runs on an image that is no longer listed, and one in so many names it by a short id. */
const UNLISTED_EVERY = 100;
const SHORT_ID_EVERY = 50;
/** The first fifth of the images is in use. */
const IN_USE_SHARE = 0.2;

/**
 * A busy node, the same each time: pods of four containers, each with its dead predecessors, a sandbox and an older one;
 * images by tag and digest, a fifth of them in use. Lists are in no order, as runtimes keep what they list in hash tables.
 */
export function nodeRecords(size: NodeSize): NodeRecords {
  const used = Math.max(1, Math.floor(size.images * IN_USE_SHARE));
  return {
    images: shuffled(size.images, imageOf),
    sandboxes: shuffled(size.pods * 2, (number) => sandboxOf(number, size.pods)),
    containers: shuffled(size.containers, (number) => containerOf(number, size, used)),
    usage: shuffled(size.containers, (number) => ({
      id: hex('container', number),
      writableLayer: { used: bytes((number % 997) * 4_096), inodes: count(number % 97), at: MADE_UNTIL },
      memoryWorkingSet: bytes(1 << 20),
    })),
  };
}

function shuffled<Item>(many: number, make: (number: number) => Item): readonly Item[] {
  const keys = Array.from({ length: many }, (_, number) => [hex('place', number), number] as const);
  return keys.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, number]) => make(number));
}

function imageOf(number: number): ImageRecord {
  return {
    id: `sha256:${hex('image', number)}`,
    tags: [tagOf(number)],
    digests: [`registry.example.org/team-${number % 50}/app-${number}@sha256:${hex('digest', number)}`],
    size: bytes((1 + (number % 499)) << 20),
    pinned: number % 1_000 === 999,
    runtimeHandler: '',
  };
}

function tagOf(number: number): string {
  return `registry.example.org/team-${number % 50}/app-${number}:1.${number % 7}`;
}

function sandboxOf(number: number, pods: number): SandboxRecord {
  const pod = number % pods;
  const isOld = number >= pods;
  return {
    id: sandboxId(pod, isOld),
    pod: podOf(pod),
    attempt: isOld ? 0 : 1,
    state: isOld || isFinished(pod) ? 'notready' : 'ready',
    createdAt: instant(MADE_UNTIL - (isOld ? 200_000 : 100_000) * SECOND),
    runtimeHandler: '',
    labels: labelsOf(pod),
    annotations: { 'kubernetes.io/config.source': 'api' },
  };
}

/** The newest of each name runs, the others are dead. */
function containerOf(number: number, { containers, pods }: NodeSize, usedImages: number): ContainerRecord {
  const pod = number % pods;
  const place = Math.floor(number / pods);
  const name = NAMES[place % NAMES.length] ?? 'app';
  const isNewest = place + NAMES.length >= containers / pods;
  const image = (number * 7) % usedImages;
  const isUnlisted = number % UNLISTED_EVERY === 1;
  const imageId = `sha256:${hex(isUnlisted ? 'gone' : 'image', image)}`;
  return {
    id: hex('container', number),
    sandboxId: sandboxId(pod, false),
    name,
    attempt: Math.floor(place / NAMES.length),
    state: isNewest && !isFinished(pod) ? 'running' : 'exited',
    createdAt: instant(MADE_UNTIL - (containers - number) * SECOND),
    imageId: number % SHORT_ID_EVERY === 2 ? imageId.slice(0, 'sha256:'.length + 12) : imageId,
    imageRef: imageId,
    image: isUnlisted ? `registry.example.org/gone:${image}` : tagOf(image),
    runtimeHandler: '',
    pod: podOf(pod),
    labels: { ...labelsOf(pod), 'io.kubernetes.container.name': name },
    annotations: { 'io.kubernetes.pod.terminationGracePeriod': '30' },
  };
}

function podOf(pod: number) {
  return { uid: uidOf(pod), namespace: `team-${pod % 50}`, name: `app-${pod}` };
}

function labelsOf(pod: number): Readonly<Record<string, string>> {
  return {
    'io.kubernetes.pod.uid': uidOf(pod),
    'io.kubernetes.pod.namespace': `team-${pod % 50}`,
    'io.kubernetes.pod.name': `app-${pod}`,
  };
}

function isFinished(pod: number): boolean {
  return pod % FINISHED_EVERY === 0;
}

function sandboxId(pod: number, isOld: boolean): string {
  return hex(isOld ? 'old sandbox' : 'sandbox', pod);
}

function uidOf(pod: number): string {
  const digits = hex('pod', pod);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join('-');
}

/** 64 digits as of a hash, the same for the same thing. */
function hex(kind: string, number: number): string {
  return createHash('sha256').update(`${kind} ${number}`).digest('hex');
}
