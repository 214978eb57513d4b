import test from 'ava';
import { RuntimeError } from '../../src/ports/runtime.js';
import { carryOut, type Removal, type RemovalManner } from '../../src/reclaim/removal.js';
import type { ReclaimRun } from '../../src/reclaim/run.js';
import { bytes } from '../../src/units/units.js';
import { told } from '../fakes/collect-events.js';
import { runFor } from '../fakes/fake-run.js';
import type { FakeWorld } from '../fakes/fake-world.js';
import { emptyWorld, MIB } from '../fakes/scenery.js';

const MANNER: RemovalManner = { spaceComes: 'at-once', bytesPerClaimed: 1, recheck: async () => () => null };

/** A removal that frees `mib`, after having failed for want of space `fails` times. */
function removal(world: FakeWorld, id: string, mib: number, fails = 0): { removal: Removal; tries: () => number } {
  let tries = 0;
  return {
    tries: () => tries,
    removal: {
      subject: { what: 'container', id, label: id, reason: 'test', claimed: bytes(mib * MIB) },
      async carryOut() {
        tries += 1;
        if (tries <= fails)
          throw new RuntimeError(`Cannot remove ${id}`, { kind: 'no-space', call: 'RemoveContainer' });
        world.disks.imagefs.give({ bytes: mib * MIB, inodes: 0 });
        return { kind: 'removed' };
      },
    },
  };
}

function fullWorld(): FakeWorld {
  const world = emptyWorld();
  world.disks.imagefs.fillUntilFree(0);
  return world;
}

const carried = (world: FakeWorld, removals: readonly Removal[], run: ReclaimRun) =>
  world.clock.run(told(carryOut(removals, MANNER, run)));

test('a removal that fails for want of space is tried again in the same collection, before anything after it', async (t) => {
  const world = fullWorld();
  const [first, second, third] = [removal(world, 'a', 10, 1), removal(world, 'b', 10), removal(world, 'c', 10)];
  const { events, result } = await carried(
    world,
    [first.removal, second.removal, third.removal],
    runFor(world, 20 * MIB),
  );
  t.is(result.outcome, 'reached');
  t.deepEqual([first.tries(), second.tries(), third.tries()], [2, 1, 0]);
  t.deepEqual(events.filter(({ kind }) => kind === 'removal-failed').length, 1);
});

test('one that never finds room is given up after three tries, and the others go on', async (t) => {
  const world = fullWorld();
  const [stuck, other] = [removal(world, 'a', 10, Number.POSITIVE_INFINITY), removal(world, 'b', 30)];
  const { result } = await carried(world, [stuck.removal, other.removal], runFor(world, 20 * MIB));
  t.is(result.outcome, 'reached');
  t.deepEqual([stuck.tries(), other.tries()], [3, 1]);
});

test('under the kubelet profile a failed removal is not tried again', async (t) => {
  const world = fullWorld();
  const failing = removal(world, 'a', 10, 1);
  await carried(world, [failing.removal], runFor(world, 20 * MIB, { profile: 'kubelet' }));
  t.is(failing.tries(), 1);
});

test('on a disk that is almost full removals go one at a time', async (t) => {
  const world = fullWorld();
  let underWay = 0;
  let most = 0;
  const slow = (id: string): Removal => ({
    subject: { what: 'container', id, label: id, reason: 'test', claimed: bytes(MIB / 2) },
    async carryOut() {
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
      return { kind: 'removed' };
    },
  });
  await carried(world, ['a', 'b', 'c'].map(slow), runFor(world, 20 * MIB));
  t.is(most, 1);
});
