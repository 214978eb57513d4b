import test from 'ava';
import type { ProfileName } from '../../src/eviction/policy.js';
import { milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes } from '../fakes/fake-node.js';
import { emptyWorld, MIB, putContainer, putImage } from '../fakes/scenery.js';

/** A node that is short of 60 MiB, with the settings of a profile. */
function pressed(profile: ProfileName, wishes: Partial<NodeWishes> = {}) {
  const world = emptyWorld();
  return {
    world,
    node: new FakeNode(world, { thresholds: [threshold('imagefs.available', '100Mi')], profile, ...wishes }),
  };
}

for (const [profile, isKept] of [
  ['kubelet', true],
  ['reclaimd', false],
] as const) {
  test(`gc.youngImages: under hard pressure an image below the minimum age ${isKept ? 'stays' : 'goes'} (${profile})`, async (t) => {
    const { world, node } = pressed(profile, { minAge: milliseconds(120_000) });
    const id = putImage(world, 'young', { mib: 200 });
    world.disks.imagefs.fillUntilFree(40 * MIB);
    await node.passes(2);
    t.is(world.images.has(id), isKept);
  });
}

for (const [profile, attempts] of [
  ['kubelet', 5],
  ['reclaimd', 1],
] as const) {
  test(`gc.failedRemovals: what cannot be removed is tried ${attempts} times in five passes (${profile})`, async (t) => {
    const { world, node } = pressed(profile);
    putContainer(world, 'stuck', { uid: 'gone', namespace: 'default', name: 'gone' }, { mib: 200 });
    node.runtime.fail('removeContainer', 'failed');
    world.disks.imagefs.fillUntilFree(40 * MIB);
    await node.passes(5);
    t.is(node.runtime.targetsOf('removeContainer').length, attempts);
  });
}
