import test from 'ava';
import { milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import { emptyWorld, MIB, putContainer, putPod } from '../fakes/scenery.js';

const SOFT_AND_HARD = [
  threshold('imagefs.available', '300Mi', { graceSeconds: 0.05 }),
  threshold('imagefs.available', '100Mi'),
];

/** A node below its soft line; the one pod takes 20 s to end. After `fillsAfter` ms of that the disk is full. */
function nodeThatFills(fillsAfter: number, wishes: Partial<NodeWishes> = {}) {
  const world = emptyWorld();
  putContainer(world, 'app', putPod(world, 'hog', { volumeMib: 200 }), { state: 'running', mib: 0 });
  world.disks.imagefs.fillUntilFree(200 * MIB);
  const node = new FakeNode(world, { thresholds: SOFT_AND_HARD, ...wishes });
  node.runtime.latency = { stopContainer: 20_000 };
  let filledAt = 0;
  const play = async () => {
    await node.pass();
    return node.pass('act', (event) => {
      if (event.kind !== 'eviction-decided') return;
      void world.clock.sleep(milliseconds(fillsAfter)).then(() => {
        world.disks.imagefs.fillUntilFree(0);
        filledAt = world.clock.now();
      });
    });
  };
  const stops = () =>
    node.runtime.calls.filter(({ call }) => call === 'stopContainer').map(({ grace }) => Number(grace));
  return { play, stops, filledAt: () => filledAt };
}

test('a hard line that is missed while a pod ends with a soft grace cuts the grace short within half a second', async (t) => {
  const { play, stops, filledAt } = nodeThatFills(5_000);
  const [hastened, ...more] = ofKind(await play(), 'eviction-hastened');
  t.is(hastened?.threshold.urgency.kind, 'hard');
  t.deepEqual(more, []);
  const waited = Number(hastened?.at) - filledAt();
  t.true(waited >= 0 && waited <= 500, `${waited} ms`);
  t.deepEqual(stops(), [30_000, 0]);
});

test('a pod whose soft grace no hard line cuts keeps it whole, and what its end told is told once', async (t) => {
  const { play, stops } = nodeThatFills(60_000);
  const events = await play();
  t.deepEqual(ofKind(events, 'eviction-hastened'), []);
  t.deepEqual(stops(), [30_000]);
  const removed = ofKind(events, 'removed').map(({ subject }) => subject.id);
  t.deepEqual(removed, [...new Set(removed)]);
  t.is(ofKind(events, 'pod-killed')[0]?.outcome.kind, 'gone');
});

test('under the kubelet profile the hard line waits its turn', async (t) => {
  const { play, stops } = nodeThatFills(500, { profile: 'kubelet', maxPodGrace: milliseconds(30_000) });
  t.deepEqual(ofKind(await play(), 'eviction-hastened'), []);
  t.is(stops().length, 1);
});
