import test from 'ava';
import { criPods } from '../../src/adapters/pods/cri-pods.js';
import { GONE_AFTER, gonePods } from '../../src/reclaim/gone-pods.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { FakeWorld } from '../fakes/fake-world.js';

const SIGNAL = new AbortController().signal;
const UID = '11111111-2222-3333-4444-555555555555';

function scene() {
  const world = new FakeWorld('one-disk', { bytes: 1_000, inodes: 10 });
  const node = { kubeletRuns: false };
  const answers = gonePods({
    runtime: new FakeRuntime(world),
    pods: criPods(),
    clock: world.clock,
    kubeletRuns: () => Promise.resolve(node.kubeletRuns),
  });
  const isGone = async (uid = UID) => (await answers(SIGNAL)).contentMayBeRemoved(uid);
  return { world, node, answers, isGone };
}

test('a pod is gone when nothing of it was seen for five minutes, and not before', async (t) => {
  const { world, isGone } = scene();
  t.false(await isGone());
  await world.clock.pass(GONE_AFTER - 1);
  t.false(await isGone());
  await world.clock.pass(1);
  t.true(await isGone());
});

test('one that comes meanwhile is there, with or without the labels of a kubelet, and waits anew when it has gone', async (t) => {
  const { world, isGone } = scene();
  t.false(await isGone());
  await world.clock.pass(GONE_AFTER);
  const pod = { uid: UID, namespace: 'default', name: 'web' };
  const sandbox = { id: 's', pod, attempt: 0, state: 'notready', createdAt: world.clock.now() } as const;
  world.sandboxes.set('s', { ...sandbox, runtimeHandler: '', labels: {}, annotations: {} });
  t.false(await isGone());
  world.sandboxes.delete('s');
  t.false(await isGone());
  await world.clock.pass(GONE_AFTER);
  t.true(await isGone());
});

test('while a kubelet runs nobody is gone', async (t) => {
  const { world, node, answers, isGone } = scene();
  t.false(await isGone());
  await world.clock.pass(GONE_AFTER);
  node.kubeletRuns = true;
  t.false(await isGone());
  t.false((await answers(SIGNAL)).allSourcesReady);
});

for (const name of ['lost+found', 'audit', '', '.', '..', `${UID}0`]) {
  test(`what is no uid is no pod that could be gone: "${name}"`, async (t) => {
    const { world, isGone } = scene();
    await isGone(name);
    await world.clock.pass(GONE_AFTER);
    t.false(await isGone(name));
  });
}

test('the uid of a static pod is one', async (t) => {
  const { world, isGone } = scene();
  const uid = '0123456789abcdef0123456789abcdef';
  t.false(await isGone(uid));
  await world.clock.pass(GONE_AFTER);
  t.true(await isGone(uid));
});
