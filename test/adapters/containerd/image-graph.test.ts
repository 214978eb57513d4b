import test from 'ava';
import { readMeta, readRoot } from '../../../src/adapters/containerd/bolt.js';
import { imageGraph } from '../../../src/adapters/containerd/image-graph.js';
import { freedInOrder, sharesOf } from '../../../src/gc/image-content.js';
import { instant } from '../../../src/units/units.js';
import { boltFile, type Tree } from './bolt-writer.js';

const digest = (name: string) => `sha256:${Buffer.from(name).toString('hex').padStart(64, '0')}`;

/** Go's `binary.Varint` of an amount that is not negative. */
function varint(amount: number): Buffer {
  const out: number[] = [];
  let rest = BigInt(amount) << 1n;
  for (; rest >= 0x80n; rest >>= 7n) out.push(Number((rest & 0x7fn) | 0x80n));
  return Buffer.from([...out, Number(rest)]);
}

/** Go's `Time.MarshalBinary`. */
function goTime(ms: number): Buffer {
  const out = Buffer.alloc(15);
  out.writeUInt8(1, 0);
  out.writeBigInt64BE(BigInt(Math.floor(ms / 1_000)) + 62_135_596_800n, 1);
  out.writeInt32BE((ms % 1_000) * 1_000_000, 9);
  out.writeInt16BE(-1, 13);
  return out;
}

const blob = (size: number, labels: Readonly<Record<string, string>> = {}): Tree => ({ size: varint(size), labels });

/** An image of a manifest (1 byte), a configuration (2 bytes) and layers, each of its name's length in kilobytes as a blob. */
function imageBlobs(name: string, layers: readonly string[]): Tree {
  const top = layers.join('+');
  const refs = layers.map((layer, index) => [`containerd.io/gc.ref.content.l.${index}`, digest(layer)] as const);
  return {
    [digest(`manifest of ${name}`.slice(0, 31))]: blob(1, {
      ...Object.fromEntries(refs),
      'containerd.io/gc.ref.content.config': digest(`config of ${name}`),
    }),
    [digest(`config of ${name}`)]: blob(2, { 'containerd.io/gc.ref.snapshot.overlayfs': top }),
    ...Object.fromEntries(layers.map((layer) => [digest(layer), blob(layer.length * 1_000)])),
  };
}

const manifestOf = (name: string) => digest(`manifest of ${name}`.slice(0, 31));
const idOf = (name: string) => digest(`config of ${name}`);

/** Chains of snapshots by their key, with the sizes that the snapshotter knows: ten times the blob's. */
function chains(...images: readonly (readonly string[])[]): { readonly meta: Tree; readonly store: Tree } {
  const keys = new Map<string, { readonly parent: string; readonly layer: string }>();
  for (const layers of images) {
    layers.forEach((layer, index) => {
      keys.set(layers.slice(0, index + 1).join('+'), { parent: layers.slice(0, index).join('+'), layer });
    });
  }
  const meta = [...keys].map(([key, { parent }]): [string, Tree] => [
    key,
    { name: `k8s.io/1/${key}`, ...(parent === '' ? {} : { parent }) },
  ]);
  const store = [...keys].map(([key, { layer }]): [string, Tree] => [
    `k8s.io/1/${key}`,
    { size: varint(layer.length * 10_000), inodes: varint(3) },
  ]);
  return { meta: Object.fromEntries(meta), store: Object.fromEntries(store) };
}

const nameOf = (target: string, createdMs = 1_700_000_000_123): Tree => ({
  target: { digest: target },
  createdat: goTime(createdMs),
});

interface Scene {
  readonly namespace?: Tree;
  readonly others?: Tree;
  readonly images?: Tree;
}

const A = ['base', 'aa'];
const B = ['base', 'bbb'];

/** Two images that share a layer. */
function graphOf({ namespace = {}, others = {}, images = {} }: Scene = {}) {
  const { meta, store } = chains(A, B);
  const tree: Tree = {
    v1: {
      'k8s.io': {
        content: { blob: { ...imageBlobs('a', A), ...imageBlobs('b', B) } },
        snapshots: { overlayfs: meta },
        images: {
          'local.test/a:1': nameOf(manifestOf('a')),
          [idOf('a')]: nameOf(manifestOf('a')),
          [idOf('b')]: nameOf(manifestOf('b')),
          ...images,
        },
        ...namespace,
      },
      ...others,
    },
  };
  const read = (file: Buffer) => readRoot(file, readMeta(file));
  return imageGraph(read(boltFile(tree, { perPage: 4 })), read(boltFile({ v1: { snapshots: store } })), 'overlayfs');
}

const uniqueOf = (scene: Scene = {}) => {
  const shares = sharesOf(graphOf(scene), 'bytes');
  return [shares.get(idOf('a')), shares.get(idOf('b'))];
};

test('an image keeps its manifest, its configuration, and its layers packed and unpacked', (t) => {
  t.deepEqual(uniqueOf(), [
    { unique: 1 + 2 + 2_000 + 20_000, own: 1, shared: 1 },
    { unique: 1 + 2 + 3_000 + 30_000, own: 1, shared: 1 },
  ]);
  t.deepEqual(freedInOrder([idOf('a'), idOf('b')], graphOf(), 'bytes'), [22_003, 33_003 + 44_000]);
});

test('inodes are a file for each blob, and for each snapshot what it holds with its two directories', (t) => {
  t.is(sharesOf(graphOf(), 'inodes').get(idOf('a'))?.unique, 3 + 5);
});

test('an image came when its id was made', (t) => {
  t.is(graphOf().arrivedAt.get(idOf('a')), instant(1_700_000_000_123));
});

for (const [title, scene, unique] of [
  [
    'a container needs the snapshots below its own',
    { namespace: { containers: { c: { snapshotter: 'overlayfs', snapshotKey: 'base+aa' } } } },
    1 + 2 + 2_000,
  ],
  [
    'a container of another snapshotter does not',
    { namespace: { containers: { c: { snapshotter: 'native', snapshotKey: 'base+aa' } } } },
    22_003,
  ],
  [
    'a lease needs what it names',
    { namespace: { leases: { l: { content: { [digest('aa')]: '' }, snapshots: { overlayfs: { 'base+aa': '' } } } } } },
    3,
  ],
  [
    'another namespace keeps blobs, since they are one on the disk',
    { others: { moby: { content: { blob: { [digest('aa')]: blob(2_000) } } } } },
    3 + 20_000,
  ],
  [
    'a name that leads nowhere keeps nothing',
    { images: { 'local.test/index:1': nameOf(digest('index')) }, namespace: {} },
    22_003,
  ],
] as const) {
  test(title, (t) => {
    t.is(uniqueOf(scene)[0]?.unique, unique);
  });
}

test('a second name of an image, by an index or by a manifest of its own, is part of it', (t) => {
  const index = { [digest('index')]: blob(500, { 'containerd.io/gc.ref.content.m.0': manifestOf('a') }) };
  const scene: Scene = {
    images: { 'local.test/many:1': nameOf(digest('index')) },
    namespace: { content: { blob: { ...imageBlobs('a', A), ...imageBlobs('b', B), ...index } } },
  };
  t.is(uniqueOf(scene)[0]?.unique, 22_003 + 500);
});

test('an image of containerd that CRI does not list keeps what it shares with one that is listed', (t) => {
  const { meta, store } = chains(A);
  const tree: Tree = {
    v1: {
      'k8s.io': {
        content: { blob: imageBlobs('a', A) },
        snapshots: { overlayfs: meta },
        images: { [idOf('a')]: nameOf(manifestOf('a')), 'other:1': nameOf(idOf('a')) },
      },
    },
  };
  const read = (file: Buffer) => readRoot(file, readMeta(file));
  const graph = imageGraph(read(boltFile(tree)), read(boltFile({ v1: { snapshots: store } })), 'overlayfs');
  t.deepEqual(sharesOf(graph, 'bytes').get(idOf('a')), { unique: 1 + 2_000 + 4_000, own: 0, shared: 2 });
});

test('a snapshot without a size makes the whole unknown', (t) => {
  const { meta } = chains(A);
  const tree: Tree = {
    v1: {
      'k8s.io': {
        content: { blob: imageBlobs('a', A) },
        snapshots: { overlayfs: meta },
        images: { [idOf('a')]: nameOf(manifestOf('a')) },
      },
    },
  };
  const read = (file: Buffer) => readRoot(file, readMeta(file));
  const graph = imageGraph(read(boltFile(tree)), read(boltFile({ v1: {} })), 'overlayfs');
  t.deepEqual(sharesOf(graph, 'bytes').get(idOf('a')), { unique: null, own: 2, shared: 0 });
});

test('a node on which CRI has never worked has no images', (t) => {
  const read = (file: Buffer) => readRoot(file, readMeta(file));
  t.is(imageGraph(read(boltFile({ v1: { moby: {} } })), read(boltFile({})), 'overlayfs').parts.size, 0);
});
