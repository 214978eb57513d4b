import { type ImageContent, NO_CONTENT } from '../../gc/image-content.js';
import { type Bytes, bytes, type Count, count, type Instant, instant } from '../../units/units.js';
import type { BoltBucket } from './bolt.js';

/** The namespace in which containerd's CRI plugin works. */
const CRI_NAMESPACE = 'k8s.io';
/** Labels by which containerd's own garbage collection finds what is needed (docs/garbage-collection.md). */
const ROOT = 'containerd.io/gc.root';
const CONTENT_REF = 'containerd.io/gc.ref.content';
const CONFIG_REF = 'containerd.io/gc.ref.content.config';
const SNAPSHOT_REF = 'containerd.io/gc.ref.snapshot.';

interface Blob {
  readonly size: Bytes | null;
  readonly content: readonly string[];
  readonly snapshots: readonly string[];
  readonly config: string | null;
  readonly isRoot: boolean;
}

interface Amounts {
  readonly size: Bytes | null;
  /** With the directory of the layer itself. */
  readonly inodes: Count | null;
}

interface Snapshot {
  /** The name by which the snapshotter knows it. */
  readonly name: string;
  readonly parent: string | null;
  readonly isRoot: boolean;
}

/**
 * What each image of CRI keeps on the disk, as containerd's own collection would find it: blobs by the labels that lead from its
 * names, and the snapshots below the one that its configuration names. What containers, leases, roots and other namespaces need is
 * kept in any case.
 *
 * @param meta the topmost bucket of `meta.db`
 * @param store the topmost bucket of the snapshotter's `metadata.db`, in which sizes stand
 */
export function imageGraph(meta: BoltBucket, store: BoltBucket, snapshotter: string): ImageContent {
  const version = meta.bucket('v1');
  const namespace = version?.bucket(CRI_NAMESPACE) ?? null;
  if (version === null || namespace === null) return NO_CONTENT;
  const graph = new Graph(blobsOf(namespace, snapshotter), snapshotsOf(namespace, snapshotter), sizesOf(store));
  const parts = new Map<string, Set<string>>();
  const kept = new Set<string>();
  for (const { target, owner } of namesOf(namespace, graph)) {
    const into = owner === null ? kept : (parts.get(owner) ?? new Set<string>());
    if (owner !== null) parts.set(owner, into);
    for (const part of graph.from([target], [])) into.add(part);
  }
  for (const part of graph.from(graph.rootContent(), graph.rootSnapshots())) kept.add(part);
  for (const each of holdersOf(namespace, snapshotter))
    for (const part of graph.from(each.content, each.snapshots)) kept.add(part);
  for (const part of elsewhere(version)) kept.add(part);
  return {
    parts: new Map([...parts].map(([id, each]) => [id, [...each]])),
    ...graph.amounts(),
    layers: graph.layers(),
    keptElsewhere: kept,
    arrivedAt: arrivalsOf(namespace),
  };
}

class Graph {
  readonly #blobs: ReadonlyMap<string, Blob>;
  readonly #snapshots: ReadonlyMap<string, Snapshot>;
  readonly #sizes: ReadonlyMap<string, Amounts>;

  constructor(
    blobs: ReadonlyMap<string, Blob>,
    snapshots: ReadonlyMap<string, Snapshot>,
    sizes: ReadonlyMap<string, Amounts>,
  ) {
    this.#blobs = blobs;
    this.#snapshots = snapshots;
    this.#sizes = sizes;
  }

  /** Everything that these lead to. */
  from(content: Iterable<string>, snapshots: Iterable<string>): ReadonlySet<string> {
    const parts = new Set<string>();
    const chains = [...snapshots];
    const left = [...content];
    for (let digest = left.pop(); digest !== undefined; digest = left.pop()) {
      const blob = this.#blobs.get(digest);
      if (blob === undefined || parts.has(blobPart(digest))) continue;
      parts.add(blobPart(digest));
      left.push(...blob.content);
      chains.push(...blob.snapshots);
    }
    for (const key of chains) {
      for (let each = this.#snapshots.get(key); each !== undefined; each = this.#snapshots.get(each.parent ?? '')) {
        if (parts.has(snapshotPart(each.name))) break;
        parts.add(snapshotPart(each.name));
      }
    }
    return parts;
  }

  /** The configuration that a name leads to, by a manifest or by an index of them; null = none that is here. */
  configOf(target: string): string | null {
    const blob = this.#blobs.get(target);
    if (blob === undefined) return null;
    if (blob.config !== null) return blob.config;
    return blob.content.map((each) => this.#blobs.get(each)?.config ?? null).find((each) => each !== null) ?? null;
  }

  *rootContent(): Iterable<string> {
    for (const [digest, { isRoot }] of this.#blobs) if (isRoot) yield digest;
  }

  *rootSnapshots(): Iterable<string> {
    for (const [key, { isRoot }] of this.#snapshots) if (isRoot) yield key;
  }

  /** A layer lies unpacked as a snapshot. */
  layers(): ReadonlySet<string> {
    return new Set([...this.#snapshots.values()].map(({ name }) => snapshotPart(name)));
  }

  /** A blob is one file; a snapshot is what it holds and the two directories that it lies in. */
  amounts(): Pick<ImageContent, 'bytes' | 'inodes'> {
    const bytesOf = new Map<string, Bytes | null>();
    const inodesOf = new Map<string, Count | null>();
    for (const [digest, { size }] of this.#blobs) {
      bytesOf.set(blobPart(digest), size);
      inodesOf.set(blobPart(digest), count(1));
    }
    for (const { name } of this.#snapshots.values()) {
      const { size = null, inodes = null } = this.#sizes.get(name) ?? {};
      bytesOf.set(snapshotPart(name), size);
      inodesOf.set(snapshotPart(name), inodes === null ? null : count(inodes + SNAPSHOT_DIRECTORIES));
    }
    return { bytes: bytesOf, inodes: inodesOf };
  }
}

/** Beside the directory of the layer, which is counted with it: its own, and the one that overlayfs works in. */
const SNAPSHOT_DIRECTORIES = 2;

function blobPart(digest: string): string {
  return `blob ${digest}`;
}

function snapshotPart(name: string): string {
  return `snapshot ${name}`;
}

function blobsOf(namespace: BoltBucket, snapshotter: string): ReadonlyMap<string, Blob> {
  const bucket = namespace.bucket('content')?.bucket('blob') ?? null;
  return new Map(
    [...(bucket?.buckets() ?? [])].map(([digest, blob]): [string, Blob] => {
      const labels = labelsOf(blob);
      return [
        digest,
        {
          size: sizeOf(varint(blob.value('size'))),
          content: refsOf(labels, (key) => key.startsWith(CONTENT_REF)),
          snapshots: refsOf(labels, (key) => isRefTo(key, snapshotter)),
          config: labels.find(([key]) => key === CONFIG_REF)?.[1] ?? null,
          isRoot: labels.some(([key]) => key === ROOT),
        },
      ];
    }),
  );
}

function snapshotsOf(namespace: BoltBucket, snapshotter: string): ReadonlyMap<string, Snapshot> {
  const bucket = namespace.bucket('snapshots')?.bucket(snapshotter) ?? null;
  return new Map(
    [...(bucket?.buckets() ?? [])].map(([key, snapshot]): [string, Snapshot] => [
      key,
      {
        name: text(snapshot.value('name')) ?? key,
        parent: text(snapshot.value('parent')),
        isRoot: labelsOf(snapshot).some(([label]) => label === ROOT),
      },
    ]),
  );
}

/** Committed snapshots have a size; what is being written has none yet. */
function sizesOf(store: BoltBucket): ReadonlyMap<string, Amounts> {
  const bucket = store.bucket('v1')?.bucket('snapshots') ?? null;
  return new Map(
    [...(bucket?.buckets() ?? [])].map(([name, each]): [string, Amounts] => {
      const inodes = varint(each.value('inodes'));
      return [name, { size: sizeOf(varint(each.value('size'))), inodes: inodes === null ? null : count(inodes) }];
    }),
  );
}

/** By the name that is an image's id: it is made when the image comes, and stays when a tag moves. */
function arrivalsOf(namespace: BoltBucket): ReadonlyMap<string, Instant> {
  return new Map(
    [...(namespace.bucket('images')?.buckets() ?? [])].flatMap(([name, image]): [string, Instant][] => {
      const at = isId(name) ? goTime(image.value('createdat')) : null;
      return at === null ? [] : [[name, at]];
    }),
  );
}

/** The names of images. An image of CRI has its id among them; another name is its own if it leads to the same. */
function namesOf(
  namespace: BoltBucket,
  graph: Graph,
): readonly { readonly target: string; readonly owner: string | null }[] {
  const names = [...(namespace.bucket('images')?.buckets() ?? [])].flatMap(([name, image]) => {
    const target = text(image.bucket('target')?.value('digest') ?? null);
    return target === null ? [] : [{ name, target }];
  });
  const ids = new Set(names.flatMap(({ name }) => (isId(name) ? [name] : [])));
  const byTarget = new Map(names.flatMap(({ name, target }) => (isId(name) ? [[target, name] as const] : [])));
  return names.map(({ name, target }) => {
    if (isId(name)) return { target, owner: name };
    const config = graph.configOf(target);
    return { target, owner: byTarget.get(target) ?? (config !== null && ids.has(config) ? config : null) };
  });
}

function isId(name: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(name);
}

/** What containers and leases need. */
function* holdersOf(
  namespace: BoltBucket,
  snapshotter: string,
): Iterable<{ readonly content: readonly string[]; readonly snapshots: readonly string[] }> {
  for (const [, container] of namespace.bucket('containers')?.buckets() ?? []) {
    const labels = labelsOf(container);
    const key = text(container.value('snapshotter')) === snapshotter ? text(container.value('snapshotKey')) : null;
    yield {
      content: refsOf(labels, (each) => each.startsWith(CONTENT_REF)),
      snapshots: [...(key === null ? [] : [key]), ...refsOf(labels, (each) => isRefTo(each, snapshotter))],
    };
  }
  for (const [, lease] of namespace.bucket('leases')?.buckets() ?? []) {
    yield {
      content: keysOf(lease.bucket('content')),
      snapshots: keysOf(lease.bucket('snapshots')?.bucket(snapshotter) ?? null),
    };
  }
}

/** Blobs are one on the disk for all namespaces; snapshots are not. */
function* elsewhere(version: BoltBucket): Iterable<string> {
  for (const [name, namespace] of version.buckets()) {
    if (name === CRI_NAMESPACE) continue;
    for (const digest of keysOf(namespace.bucket('content')?.bucket('blob') ?? null)) yield blobPart(digest);
  }
}

function labelsOf(bucket: BoltBucket): readonly (readonly [string, string])[] {
  return [...(bucket.bucket('labels')?.values() ?? [])].map(([key, value]) => [key, value.toString('utf8')] as const);
}

function refsOf(labels: readonly (readonly [string, string])[], isRef: (key: string) => boolean): readonly string[] {
  return labels.filter(([key]) => isRef(key)).map(([, value]) => value);
}

/** A label may say more behind the snapshotter's name. */
function isRefTo(key: string, snapshotter: string): boolean {
  const start = `${SNAPSHOT_REF}${snapshotter}`;
  return key === start || key.startsWith(`${start}.`) || key.startsWith(`${start}/`);
}

function keysOf(bucket: BoltBucket | null): readonly string[] {
  if (bucket === null) return [];
  return [...[...bucket.values()].map(([key]) => key), ...[...bucket.buckets()].map(([key]) => key)];
}

function text(value: Buffer | null): string | null {
  return value === null || value.length === 0 ? null : value.toString('utf8');
}

function sizeOf(value: number | null): Bytes | null {
  return value === null ? null : bytes(value);
}

/** Go's `binary.Varint`: seven bits a byte, the lowest first, with the sign in the lowest bit. Null = no amount. */
function varint(value: Buffer | null): number | null {
  if (value === null) return null;
  let number = 0n;
  let shift = 0n;
  for (const byte of value) {
    number |= BigInt(byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) break;
    shift += 7n;
  }
  const amount = number >> 1n;
  return (number & 1n) === 1n || amount > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(amount);
}

/** From the beginning of Go's calendar, the year 1, to 1970. */
const GO_EPOCH_SECONDS = 62_135_596_800n;

/** Go's `Time.MarshalBinary`: a version, seconds, nanoseconds and an offset that moves nothing. Null = another version. */
function goTime(value: Buffer | null): Instant | null {
  if (value === null || value.length < 13 || value[0] === undefined || value[0] === 0 || value[0] > 2) return null;
  const seconds = value.readBigInt64BE(1) - GO_EPOCH_SECONDS;
  return seconds <= 0n ? null : instant(Number(seconds) * 1_000 + value.readInt32BE(9) / 1e6);
}
