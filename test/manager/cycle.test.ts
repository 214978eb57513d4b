import test from 'ava';
import { milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';
import { FakeNode, type NodeWishes, ofKind } from '../fakes/fake-node.js';
import { FakeWorld } from '../fakes/fake-world.js';
import { emptyWorld, GONE, MIB, putContainer, putImage, putPod } from '../fakes/scenery.js';

const HARD = [threshold('imagefs.available', '100Mi', { minReclaim: '20Mi' })];

/** A node with `free` MiB left, so that a hundred are asked for, and twenty more once it is short. */
function nodeWith(free: number, furnish: (world: FakeWorld) => void, wishes: Partial<NodeWishes> = {}): FakeNode {
  const world = emptyWorld();
  furnish(world);
  world.disks.imagefs.fillUntilFree(free * MIB);
  return new FakeNode(world, { thresholds: HARD, ...wishes });
}

function writer(world: FakeWorld, name = 'writer', mib = 100, facts: Parameters<typeof putPod>[2] = {}) {
  const pod = putPod(world, name, { volumeMib: mib, ...facts });
  putContainer(world, `app-of-${name}`, pod, { state: 'running', mib: 0 });
}

test('without pressure nothing is asked of the runtime but where images lie', async (t) => {
  const node = nodeWith(500, (world) => {
    putImage(world, 'unused');
  });
  const events = await node.pass();
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['layout-changed', 'observed'],
  );
  t.deepEqual(
    node.runtime.calls.map(({ call }) => call),
    ['imageFsInfo'],
  );
});

test('when reclaim is enough, no pod is touched, and the line plus minimum reclaim is measured', async (t) => {
  const node = nodeWith(80, (world) => {
    for (let n = 0; n < 5; n += 1) putImage(world, `unused-${n}`, { mib: 10 });
    writer(world);
  });
  const events = await node.pass();
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  const [finished] = ofKind(events, 'reclaim-finished');
  t.is(finished?.outcome, 'reached');
  t.deepEqual(finished?.removed, { image: 2 });
  const free = node.world.disks.imagefs.freeBytes / MIB;
  t.true(free >= 120 && free < 121);
  t.true((await node.pass()).some(({ kind }) => kind === 'threshold-cleared'));
});

test('dead containers go before images, and pods after both', async (t) => {
  const node = nodeWith(40, (world) => {
    putContainer(world, 'dead', GONE, { mib: 10 });
    putImage(world, 'unused', { mib: 10 });
    writer(world);
  });
  const events = await node.pass();
  const story = events.flatMap((event) => {
    if (event.kind === 'removed') return [event.subject.what];
    return event.kind === 'eviction-decided' || event.kind === 'pod-killed' ? [event.kind] : [];
  });
  t.deepEqual(story, [
    'container',
    'image',
    'eviction-decided',
    'container',
    'sandbox',
    'pod-logs',
    'pod-volumes',
    'pod-killed',
  ]);
  t.is(ofKind(events, 'pod-killed')[0]?.outcome.kind, 'gone');
});

test('nobody is evicted while space that may suffice is still coming back', async (t) => {
  const node = nodeWith(40, (world) => {
    world.lateBy = 1_600;
    putContainer(world, 'dead', GONE, { mib: 85 });
    writer(world);
  });
  const events = await node.pass();
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  t.is(ofKind(events, 'reclaim-finished')[0]?.outcome, 'reached');
});

test('under the kubelet profile all thresholds must clear, a soft one of memory too', async (t) => {
  const thresholds = [...HARD, threshold('memory.available', '1Gi', { graceSeconds: 600 })];
  const furnish = (world: FakeWorld) => {
    putImage(world, 'unused', { mib: 100 });
    putImage(world, 'unused-too', { mib: 10 });
    writer(world);
  };
  const kubelet = nodeWith(80, furnish, { thresholds, profile: 'kubelet' });
  kubelet.nodeStats.memoryFree = 500 * MIB;
  t.is(ofKind(await kubelet.pass(), 'eviction-decided').length, 1);
  t.is(kubelet.world.images.size, 0);
  const ours = nodeWith(80, furnish, { thresholds });
  ours.nodeStats.memoryFree = 500 * MIB;
  t.is(ofKind(await ours.pass(), 'eviction-decided').length, 0);
  t.is(ours.world.images.size, 1);
});

test('an image disk that is short has images and containers removed; one of pods has dead containers removed', async (t) => {
  for (const short of ['nodefs', 'imagefs'] as const) {
    const world = emptyWorld('image-disk');
    putContainer(world, 'dead', GONE, { mib: 10, logMib: 10 });
    putImage(world, 'unused', { mib: 10 });
    world.disks[short].fillUntilFree(50 * MIB);
    const node = new FakeNode(world, { thresholds: [threshold(`${short}.available`, '100Mi')] });
    await node.pass();
    t.is(world.containers.size, 0, short);
    t.is(world.images.size, short === 'nodefs' ? 1 : 0, short);
  }
});

test('on split disks containers go for nodefs and images for imagefs', async (t) => {
  for (const short of ['nodefs', 'imagefs'] as const) {
    const world = emptyWorld('split-disks');
    putContainer(world, 'dead', GONE, { mib: 10 });
    putImage(world, 'unused', { mib: 10 });
    world.disks[short].fillUntilFree(50 * MIB);
    const node = new FakeNode(world, { thresholds: [threshold(`${short}.available`, '100Mi')] });
    await node.pass();
    t.deepEqual([world.containers.size, world.images.size], short === 'nodefs' ? [0, 1] : [1, 0], short);
  }
});

test('where nothing helps by collecting, as for memory, the pod that uses most goes', async (t) => {
  const node = nodeWith(
    500,
    (world) => {
      putContainer(world, 'app', putPod(world, 'web'), { state: 'running' });
    },
    { thresholds: [threshold('memory.available', '100Mi')] },
  );
  node.nodeStats.memoryFree = 90 * MIB;
  const events = await node.pass();
  t.deepEqual(ofKind(events, 'reclaim-started'), []);
  const [killed] = ofKind(events, 'pod-killed');
  t.is(killed?.pod.uid, 'web');
  t.is(killed?.availableBefore, 90 * MIB);
});

test('a hard eviction gives one second; a soft one the pod its own grace, up to the cap', async (t) => {
  const soft = [threshold('imagefs.available', '100Mi', { graceSeconds: 0.05 })];
  const graceOf = async (wishes: Partial<NodeWishes>) => {
    const node = nodeWith(80, (world) => writer(world), wishes);
    return Number(ofKind(await node.passes(2), 'eviction-decided')[0]?.grace);
  };
  t.is(await graceOf({}), 1_000);
  t.is(await graceOf({ thresholds: soft }), 30_000);
  t.is(await graceOf({ thresholds: soft, maxPodGrace: milliseconds(10_000) }), 10_000);
});

test('the pod that uses more goes first; critical, static, mirror and protected ones never', async (t) => {
  const node = nodeWith(
    10,
    (world) => {
      writer(world, 'critical', 100, { priority: 2_000_000_000 });
      writer(world, 'static', 100, { source: 'file' });
      writer(world, 'mirror', 100, { isMirror: true });
      writer(world, 'system', 100, { namespace: 'kube-system' });
      writer(world, 'small', 20);
      writer(world, 'large', 40);
    },
    { protectedNamespaces: ['kube-system'] },
  );
  const events = await node.passes(4);
  t.deepEqual(
    ofKind(events, 'eviction-decided').map(({ pod }) => pod.uid),
    ['large', 'small'],
  );
  t.regex(ofKind(events, 'helpless').at(-1)?.reason ?? '', /all 4 pods are protected/);
});

test('while an eviction is under way, garbage goes and no other pod does', async (t) => {
  const node = nodeWith(20, (world) => {
    writer(world, 'first', 200);
    writer(world, 'second', 100);
  });
  node.runtime.fail('stopContainer', 'stuck', 'app-of-first');
  const events = await node.pass();
  t.is(ofKind(events, 'kill-outstanding')[0]?.pod.uid, 'first');
  putImage(node.world, 'pulled-meanwhile', { mib: 5 });
  const next = await node.pass();
  t.deepEqual(
    ofKind(next, 'removed').map(({ subject }) => subject.label),
    ['pulled-meanwhile:1'],
  );
  t.deepEqual(ofKind(next, 'eviction-decided'), []);
  node.world.clock.skip(40_000);
  const late = await node.pass();
  t.is(ofKind(late, 'pod-killed')[0]?.outcome.kind, 'still-running');
  t.is(ofKind(late, 'eviction-measured').length, 1);
});

test('the effect of an eviction is measured, and another pod goes when it was not enough', async (t) => {
  const node = nodeWith(20, (world) => {
    writer(world, 'first', 50);
    writer(world, 'second', 45);
  });
  await node.pass();
  const next = await node.pass();
  const [measured] = ofKind(next, 'eviction-measured');
  t.is(measured?.pod.uid, 'first');
  t.true((measured?.availableAfter ?? 0) - (measured?.availableBefore ?? 0) >= 50 * MIB);
  t.false(measured?.endsSeries);
  t.is(ofKind(next, 'eviction-decided')[0]?.pod.uid, 'second');
});

test('an eviction that brings next to nothing ends the series until free space moves', async (t) => {
  const node = nodeWith(20, (world) => {
    writer(world, 'first', 200);
    writer(world, 'second', 100);
  });
  node.runtime.beforeEffect = ({ call }) => {
    // Somebody else takes at once what the first one gives back.
    if (call === 'removeSandbox') node.world.disks.imagefs.take({ bytes: 200 * MIB, inodes: 0 });
  };
  await node.pass();
  node.runtime.beforeEffect = null;
  t.is(node.world.disks.imagefs.freeBytes, 20 * MIB);
  node.world.clock.skip(40_000);
  const next = await node.pass();
  t.true(ofKind(next, 'eviction-measured')[0]?.endsSeries);
  t.is(ofKind(next, 'helpless').length, 1);
  t.is(ofKind(await node.passes(2), 'eviction-decided').length, 0);
  node.world.disks.imagefs.fillUntilFree(5 * MIB);
  t.is(ofKind(await node.pass(), 'eviction-decided')[0]?.pod.uid, 'second');
});

test('that nothing helps is said once, not at every pass', async (t) => {
  const node = nodeWith(20, (world) => writer(world, 'static', 100, { source: 'file' }));
  t.is(ofKind(await node.passes(5), 'helpless').length, 1);
});

test('where no pods run there is nobody to choose', async (t) => {
  const node = nodeWith(20, () => undefined);
  t.regex(ofKind(await node.pass(), 'helpless')[0]?.reason ?? '', /no pod/);
});

test('where eviction is off, no pod is touched and the reason is said', async (t) => {
  const node = nodeWith(20, (world) => writer(world), { evictionOff: 'a kubelet runs here' });
  const events = await node.pass();
  t.is(ofKind(events, 'helpless')[0]?.reason, 'a kubelet runs here');
  t.deepEqual(node.runtime.mutations, []);
});

test('a pod whose kill was refused is not chosen again at once', async (t) => {
  const node = nodeWith(20, (world) => {
    writer(world, 'first', 200);
    writer(world, 'second', 150);
  });
  node.runtime.fail('stopContainer', 'permission-denied', 'app-of-first');
  const events = await node.passes(2);
  t.deepEqual(
    ofKind(events, 'eviction-decided').map(({ pod }) => pod.uid),
    ['first', 'second'],
  );
});

test('a runtime that goes away while a pod is ended costs no other pod its life', async (t) => {
  const node = nodeWith(20, (world) => {
    writer(world, 'first', 200);
    writer(world, 'second', 150);
  });
  node.runtime.fail('stopContainer', 'unavailable', 'app-of-first');
  node.runtime.beforeEffect = ({ call }) => {
    if (call === 'stopSandbox') node.runtime.isDown = true;
  };
  const lost = await node.pass();
  t.deepEqual(ofKind(lost, 'pod-killed')[0]?.outcome.kind, 'unverified');
  node.runtime.isDown = false;
  node.runtime.beforeEffect = null;
  t.deepEqual(
    ofKind(await node.pass(), 'eviction-decided').map(({ pod }) => pod.uid),
    ['first'],
  );
});

test('a runtime that stays away is said to leave us helpless, once, so that the next looks are further apart', async (t) => {
  const node = nodeWith(500, (world) => writer(world));
  await node.pass();
  node.world.disks.imagefs.fillUntilFree(20 * MIB);
  node.runtime.isDown = true;
  t.deepEqual(
    ofKind(await node.passes(3), 'helpless').map(({ reason }) => reason),
    ['the container runtime does not answer'],
  );
});

test('pods that cannot be listed are told, and nobody is evicted', async (t) => {
  const node = nodeWith(20, (world) => writer(world));
  node.pods.failure = new Error('nobody knows the pods');
  const events = await node.pass();
  t.deepEqual(
    ofKind(events, 'list-failed').map(({ what }) => what),
    ['containers and pods', 'the pods to choose from'],
  );
  t.deepEqual(node.runtime.mutations, []);
});

test('while the runtime is gone nothing is tried and nobody is blamed', async (t) => {
  const node = nodeWith(20, (world) => writer(world));
  node.world.disks.imagefs.fillUntilFree(500 * MIB);
  await node.pass();
  node.world.disks.imagefs.fillUntilFree(20 * MIB);
  node.runtime.isDown = true;
  const events = await node.pass();
  t.is(ofKind(events, 'reclaim-finished')[0]?.outcome, 'runtime-lost');
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
});

test('a recovery while the victim is being chosen saves it', async (t) => {
  const node = nodeWith(20, (world) => writer(world));
  let lists = 0;
  node.runtime.beforeEffect = ({ call }) => {
    if (call === 'listSandboxes') lists += 1;
    if (lists === 2) node.world.disks.imagefs.fillUntilFree(500 * MIB);
  };
  t.deepEqual(ofKind(await node.pass(), 'eviction-decided'), []);
});

test('an abort ends the pass between two steps', async (t) => {
  const node = nodeWith(20, (world) => {
    putImage(world, 'a', { mib: 5 });
    putImage(world, 'b', { mib: 5 });
    writer(world);
  });
  node.runtime.beforeEffect = ({ call }) => {
    if (call === 'removeImage') node.abort.abort();
  };
  const events = await node.pass();
  t.is(ofKind(events, 'reclaim-finished')[0]?.outcome, 'aborted');
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
  t.deepEqual(ofKind(await node.pass(), 'reclaim-started'), []);
});

test('a filesystem that stops answering in the middle is no success: nothing is reached by what cannot be seen', async (t) => {
  const node = nodeWith(20, (world) => {
    putImage(world, 'a', { mib: 5 });
    writer(world);
  });
  node.runtime.beforeEffect = ({ call }) => {
    if (call === 'removeImage') node.mounts.odd.set('/var/lib/runtime/images', 'hung');
  };
  const events = await node.pass();
  t.not(ofKind(events, 'reclaim-finished')[0]?.outcome, 'reached');
  t.deepEqual(ofKind(events, 'eviction-decided'), []);
});

test('a filesystem that counts no inodes is collected for by bytes', async (t) => {
  const world = new FakeWorld('one-disk', { bytes: 1_000 * MIB, inodes: null });
  putImage(world, 'a', { mib: 60 });
  world.disks.imagefs.fillUntilFree(20 * MIB);
  const events = await new FakeNode(world, { thresholds: HARD }).pass();
  t.is(ofKind(events, 'reclaim-finished')[0]?.outcome, 'reached');
});

test('a collection that finds nothing is not told', async (t) => {
  const node = nodeWith(20, (world) => writer(world));
  t.deepEqual(ofKind(await node.pass(), 'reclaim-started'), []);
});

test('a path that is watched in place of a missing one is told', async (t) => {
  const node = nodeWith(500, () => undefined);
  node.mounts.odd.set('/var/lib/runtime/images', 'missing');
  t.deepEqual(
    ofKind(await node.pass(), 'image-path-fallback').map(({ path, used }) => [path, used]),
    [['/var/lib/runtime/images', '/var/lib/runtime']],
  );
});

test('a layout that cannot be told is said, and the last one goes on', async (t) => {
  const node = nodeWith(500, () => undefined);
  await node.pass();
  node.mounts.odd.set('/var/lib/runtime/images', 'hung');
  const [unknown] = ofKind(await node.pass(), 'layout-unknown');
  t.is(unknown?.kept, 'one-disk');
  t.is(node.state.layout, 'one-disk');
});

test('the effect of an eviction is not measured on a disk that cannot be seen', async (t) => {
  const node = nodeWith(20, (world) => writer(world));
  await node.pass();
  node.mounts.odd.set('/var/lib/runtime/images', 'hung');
  t.deepEqual(ofKind(await node.pass(), 'eviction-measured'), []);
  node.mounts.odd.clear();
  t.is(ofKind(await node.pass(), 'eviction-measured').length, 1);
});

test('a pod of which nothing is known may be chosen, after those known to be over their request', async (t) => {
  const node = nodeWith(20, (world) => {
    putContainer(world, 'secret', putPod(world, 'secretive'), { state: 'running', told: 'nothing', logPath: '' });
    writer(world, 'known', 5);
  });
  t.deepEqual(
    ofKind(await node.passes(2), 'eviction-decided').map(({ pod }) => pod.uid),
    ['known', 'secretive'],
  );
});

test('an eviction whose disk is never seen again is not waited for without end', async (t) => {
  const node = nodeWith(20, (world) => writer(world));
  await node.pass();
  node.mounts.odd.set('/var/lib/runtime/images', 'hung');
  node.world.clock.skip(40_000);
  t.is(ofKind(await node.pass(), 'eviction-measured')[0]?.availableAfter, null);
  t.is(node.state.evictionUnderWay, null);
});

test('under the kubelet profile an eviction that brought nothing is followed by the next', async (t) => {
  const node = nodeWith(
    20,
    (world) => {
      writer(world, 'first', 200);
      writer(world, 'second', 100);
    },
    { profile: 'kubelet' },
  );
  node.runtime.beforeEffect = ({ call }) => {
    if (call === 'removeSandbox') node.world.disks.imagefs.take({ bytes: 200 * MIB, inodes: 0 });
  };
  t.deepEqual(
    ofKind(await node.passes(2), 'eviction-decided').map(({ pod }) => pod.uid),
    ['first', 'second'],
  );
  t.is(node.state.seriesEnded, null);
});
