import type { Threshold } from '../../src/eviction/threshold.js';
import { instant, milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode } from '../fakes/fake-node.js';
import { type FakePod, FakeWorld } from '../fakes/fake-world.js';
import { GONE, MIB, putContainer, putImage, putPod, putSandbox } from '../fakes/scenery.js';
import { type NodePlan, type PodKind, SHARED_LAYERS } from './world-arbitrary.js';

const KINDS = {
  plain: {},
  critical: { priority: 2_000_000_000 },
  static: { source: 'file' },
  mirror: { isMirror: true },
  'protected-namespace': { namespace: 'kube-system' },
} as const satisfies Record<PodKind, Partial<FakePod>>;

/** The line, above which there are as many bytes or inodes of minimum reclaim. */
const LINE_MIB = 1_000;
const LINE_INODES = 1_000;
/** Large enough that a pressure of any size fits beside what the node holds. */
const SIZE = { bytes: 10_000 * MIB, inodes: 100_000 };

/** A node as planned, with every disk short of what is missing. */
export function buildNode(plan: NodePlan): FakeNode {
  const world = new FakeWorld(plan.layout, SIZE);
  const images = plan.images.map((image, index) =>
    putImage(world, `image-${index}`, {
      pinned: image.guard === 'pinned',
      tags: [tagOf(image.guard, index)],
      layers: [
        { id: `own-${index}`, bytes: image.own * MIB, inodes: 5 },
        ...image.shared.map((each) => ({
          id: `shared-${each}`,
          bytes: (SHARED_LAYERS[each] ?? 0) * MIB,
          inodes: 5,
        })),
      ],
    }),
  );
  const imageAt = (index: number | null) => (index === null ? null : (images[index % images.length] ?? null));
  const pods = plan.pods.map((pod, index) => {
    const made = putPod(world, `pod-${index}`, { ...KINDS[pod.kind], volumeMib: pod.volume });
    putSandbox(world, made, { state: pod.sandbox });
    return made;
  });
  putSandbox(world, GONE, { state: 'notready' });
  const containers = plan.containers.map((each, index) => {
    const owner =
      each.owner === 'nobody' ? null : each.owner === 'gone' ? GONE : (pods[each.owner % pods.length] ?? GONE);
    const mounted = imageAt(each.volumeImage);
    return putContainer(world, `container-${index}`, owner, {
      state: each.state,
      createdAt: instant(1_000 + index),
      base: imageAt(each.image),
      imageVolumes: mounted === null ? [] : [mounted],
      mib: each.size,
      logMib: each.log,
      told: each.told,
    }).id;
  });
  const node = new FakeNode(world, {
    thresholds: thresholdsOf(plan),
    minAge: milliseconds(plan.minAge),
    sandboxImage: 'sandbox:1',
    protectedImages: ['keep/*'],
    protectedNamespaces: ['kube-system'],
  });
  world.lateBy = plan.lateBy;
  const takes = plan.removalTakes;
  node.runtime.latency = { removeContainer: takes, removeImage: takes };
  for (const { call, fault, target } of plan.faults) {
    const targets =
      call === 'removeImage' ? images : call === 'removeSandbox' ? [...world.sandboxes.keys()] : containers;
    const named = targets[target % targets.length];
    if (named !== undefined) node.runtime.fail(call, fault, named);
  }
  fill(world, plan);
  return node;
}

function tagOf(guard: NodePlan['images'][number]['guard'], index: number): string {
  switch (guard) {
    case 'sandbox':
      return 'sandbox:1';
    case 'protected':
      return `keep/image-${index}:1`;
    case 'none':
    case 'pinned':
      return `image-${index}:1`;
  }
}

function thresholdsOf(plan: NodePlan): readonly Threshold[] {
  const grace = plan.hard ? {} : { graceSeconds: 0.05 };
  return plan.short === 'bytes'
    ? [
        threshold('nodefs.available', `${LINE_MIB}Mi`, { minReclaim: '10Mi', ...grace }),
        threshold('imagefs.available', `${LINE_MIB}Mi`, { minReclaim: '10Mi', ...grace }),
      ]
    : [
        threshold('nodefs.inodesFree', `${LINE_INODES}`, { minReclaim: '10', ...grace }),
        threshold('imagefs.inodesFree', `${LINE_INODES}`, { minReclaim: '10', ...grace }),
      ];
}

/** Something foreign takes the rest of each disk, so that what is missing is the planned share of what the node holds. */
function fill(world: FakeWorld, plan: NodePlan): void {
  for (const disk of new Set(Object.values(world.disks))) {
    if (plan.short === 'bytes') {
      const held = SIZE.bytes - disk.freeBytes;
      disk.take({ bytes: disk.freeBytes - LINE_MIB * MIB + Math.ceil(held * plan.missing), inodes: 0 });
    } else {
      const held = SIZE.inodes - disk.freeInodes;
      disk.take({ bytes: 0, inodes: disk.freeInodes - LINE_INODES + Math.ceil(held * plan.missing) });
    }
  }
}
