import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import type { FakeWorld } from '../fakes/fake-world.js';
import { type FakeWriter, FakeWriters } from '../fakes/fake-writers.js';
import { emptyWorld, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const LINE = threshold('nodefs.available', '300Mi');

interface Scene {
  readonly writers: readonly (Omit<FakeWriter, 'uid' | 'container'> & Parameters<typeof putPod>[2] & { uid: string })[];
  readonly images?: number;
  readonly free?: number;
  readonly wishes?: Partial<NodeWishes>;
  /** Nobody can say who writes. */
  readonly isBlind?: boolean;
  readonly furnish?: (world: FakeWorld) => void;
}

/** A disk of 1000 MiB with some garbage, an innocent that is larger than the writers, and writers. */
function nodeWith({ writers, images = 10, free = 380, wishes = {}, isBlind = false, furnish }: Scene): FakeNode {
  const world = emptyWorld();
  for (let n = 0; n < images; n += 1) putImage(world, `unused-${n}`, { mib: 20 });
  putContainer(world, 'app-of-big', putPod(world, 'big', { volumeMib: 60 }), { state: 'running', mib: 1 });
  for (const { uid, perSecond: _, isCounted: __, grows: ___, ...facts } of writers) {
    const pod = putPod(world, uid, { volumeMib: 5, ...facts });
    putContainer(world, `app-of-${uid}`, pod, { state: 'running', mib: 1 });
  }
  furnish?.(world);
  world.disks.nodefs.fillUntilFree(free * MIB);
  const writeCounts = new FakeWriters(
    world,
    writers.map((each) => ({ ...each, container: `app-of-${each.uid}` })),
  );
  return new FakeNode(world, { thresholds: [LINE], ...(isBlind ? {} : { writeCounts }), ...wishes });
}

/** Passes until a pod has gone, or so many. */
async function passesUntilGone(node: FakeNode, most = 40): Promise<readonly EvictionEvent[]> {
  const events: EvictionEvent[] = [];
  for (let pass = 0; pass < most; pass += 1) {
    events.push(...(await node.pass()));
    if (events.some(({ kind }) => kind === 'pod-killed')) break;
  }
  return events;
}

function story(events: readonly EvictionEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.kind === 'removed' && event.subject.what === 'image') return ['image'];
    if (event.kind === 'eviction-decided') return [`evicts ${event.pod.uid}`];
    return event.kind === 'writer-goes-first' ? [event.kind] : [];
  });
}

test('where garbage would last seconds only the writer goes first, in the pass that sees the line crossed, and no image is lost', async (t) => {
  const node = nodeWith({ writers: [{ uid: 'writer', perSecond: 150 * MIB }] });
  const events = await passesUntilGone(node);
  t.deepEqual(story(events), ['writer-goes-first', 'evicts writer']);
  const [crossed] = ofKind(events, 'threshold-met');
  const [decided] = ofKind(events, 'eviction-decided');
  t.true((decided?.at ?? 0) - (crossed?.at ?? 0) <= 250, 'numbers of each were at hand, or a fifth of a second away');
  t.like(decided?.ranking[0], { uid: 'writer', isFilling: true });
  t.regex(decided?.message ?? '', /emptyDirs \d+ B \(\d+\.\d MiB\).*it fills the disk now, by 1\d\d\.\d MiB\/s/);
  await node.passes(20);
  t.is(node.world.images.size, 10);
  t.true(node.world.disks.nodefs.freeBytes > 300 * MIB);
});

test('a slow writer costs images and no life, as garbage lasts', async (t) => {
  const node = nodeWith({ writers: [{ uid: 'writer', perSecond: 9 * MIB }], free: 305 });
  const events = await node.passes(12);
  t.deepEqual([...new Set(story(events))], ['image']);
});

for (const [title, scene] of [
  ['nobody can say who writes', { writers: [{ uid: 'writer', perSecond: 150 * MIB }], isBlind: true }],
  [
    'one that ranks before it does not write',
    {
      writers: [{ uid: 'writer', perSecond: 150 * MIB, priority: 5 }],
    },
  ],
  ['the writer is static', { writers: [{ uid: 'writer', perSecond: 150 * MIB, source: 'file' }] }],
  ['the kubelet decides', { writers: [{ uid: 'writer', perSecond: 150 * MIB }], wishes: { profile: 'kubelet' } }],
  [
    'nobody is evicted here',
    { writers: [{ uid: 'writer', perSecond: 150 * MIB }], wishes: { evictionOff: 'a kubelet does' } },
  ],
  [
    'only a soft line is due',
    {
      writers: [{ uid: 'writer', perSecond: 150 * MIB }],
      wishes: { thresholds: [threshold('nodefs.available', '300Mi', { graceSeconds: 0.1 })] },
    },
  ],
] as const satisfies readonly (readonly [string, Scene])[]) {
  test(`garbage goes first where ${title}`, async (t) => {
    const node = nodeWith(scene);
    const events: EvictionEvent[] = [];
    for (let pass = 0; pass < 12 && !story(events).includes('image'); pass += 1) events.push(...(await node.pass()));
    t.is(story(events)[0], 'image');
    t.false(story(events).includes('writer-goes-first'));
  });
}

test('what fills the disk and may not go is said when nothing else helps', async (t) => {
  const node = nodeWith({
    writers: [{ uid: 'etcd', perSecond: 150 * MIB, source: 'file' }],
    images: 0,
    furnish: (world) => {
      world.pods.delete('big');
    },
  });
  const events = await node.passes(12);
  const [said] = ofKind(events, 'helpless');
  t.regex(said?.reason ?? '', /what fills the disk now stays: default\/etcd \(static pod \(from file\)\)/);
});

test('on a disk that is full already no more is collected than lets the stop succeed', async (t) => {
  const node = nodeWith({ writers: [{ uid: 'writer', perSecond: 150 * MIB }], free: 400 });
  // The daemon sees nothing for as long as the disk needs to fill up.
  await node.pass();
  node.world.clock.skip(2_500);
  const events = await passesUntilGone(node, 3);
  t.is(story(events).filter((each) => each === 'image').length, 1, 'one image of 20 MiB is room enough');
  t.deepEqual(story(events), ['writer-goes-first', 'image', 'evicts writer']);
});

test('where no line is near nothing is read about writers', async (t) => {
  const node = nodeWith({ writers: [{ uid: 'writer', perSecond: MIB }], free: 900 });
  await node.passes(20);
  t.is((node.wishes.writeCounts as FakeWriters).reads, 0);
});
