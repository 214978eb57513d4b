import test from 'ava';
import { criPods } from '../../../src/adapters/pods/cri-pods.js';
import { matchStatic } from '../../../src/adapters/pods/match-static.js';
import { type PodFacts, readPod } from '../../../src/adapters/pods/pod-object.js';
import type { PodRecord } from '../../../src/ports/pods.js';
import { sandboxOf } from './records.js';

function manifest(name: string, metadata: object = {}): PodFacts {
  const { facts } = readPod({ metadata: { name, ...metadata }, spec: { containers: [] } });
  if (facts === null) throw new Error(name);
  return facts;
}

async function running(...names: readonly string[]): Promise<readonly PodRecord[]> {
  return criPods().list(
    [],
    names.map((name) => sandboxOf(name, { source: 'file' })),
  );
}

/** `pod ← manifest`, one for each match. */
function matchesOf(pods: readonly PodRecord[], manifests: readonly PodFacts[]): readonly string[] {
  const { facts } = matchStatic(pods, manifests);
  return pods.flatMap(({ uid, name }) => (facts.has(uid) ? [`${name} ← ${facts.get(uid)?.name}`] : []));
}

test('a static pod is its manifest, with the name of the node behind', async (t) => {
  t.deepEqual(matchesOf(await running('etcd-n1', 'proxy-n1', 'other'), [manifest('etcd'), manifest('proxy')]), [
    'etcd-n1 ← etcd',
    'proxy-n1 ← proxy',
  ]);
});

test('a manifest whose name begins like another one takes nothing from it', async (t) => {
  t.deepEqual(matchesOf(await running('etcd-events-n1', 'etcd-n1'), [manifest('etcd'), manifest('etcd-events')]), [
    'etcd-events-n1 ← etcd-events',
    'etcd-n1 ← etcd',
  ]);
  t.deepEqual(matchesOf(await running('etcd-events-n1'), [manifest('etcd'), manifest('etcd-events')]), [
    'etcd-events-n1 ← etcd-events',
  ]);
});

test('a node whose name has parts is found by what explains most pods', async (t) => {
  const pods = await running('etcd-events-n1', 'proxy-events-n1');
  t.deepEqual(matchesOf(pods, [manifest('etcd'), manifest('etcd-events'), manifest('proxy')]), [
    'etcd-events-n1 ← etcd',
    'proxy-events-n1 ← proxy',
  ]);
});

test('a pod of the API is of no manifest, whatever its name', async (t) => {
  const pods = await criPods().list([], [sandboxOf('etcd-n1')]);
  t.deepEqual(matchesOf(pods, [manifest('etcd')]), []);
});

test('another namespace is another pod', async (t) => {
  t.deepEqual(matchesOf(await running('etcd-n1'), [manifest('etcd', { namespace: 'kube-system' })]), []);
});

test('a manifest with a uid of its own is found by that alone', async (t) => {
  const pods = await running('etcd-n1', 'proxy-n1');
  t.deepEqual(matchesOf(pods, [manifest('renamed', { uid: 'uid-etcd-n1' }), manifest('proxy', { uid: 'else' })]), [
    'etcd-n1 ← renamed',
  ]);
});

test('of manifests that claim one pod none is used, and that is told', async (t) => {
  const { facts, ambiguous } = matchStatic(await running('etcd-n1'), [manifest('etcd'), manifest('etcd')]);
  t.is(facts.size, 0);
  t.deepEqual(ambiguous, ['default/etcd']);
});
