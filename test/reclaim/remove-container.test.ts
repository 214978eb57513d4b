import test from 'ava';
import type { ContainerRecord } from '../../src/ports/runtime.js';
import { containerLogs, removeDeadContainer } from '../../src/reclaim/remove-container.js';
import { ContainerRuntime } from '../conformance/fakes/container-runtime.js';
import { LogTree } from '../conformance/fakes/log-tree.js';
import { containerRecord } from '../conformance/fakes/records.js';

const SIGNAL = new AbortController().signal;
const LOG = '/var/log/pods/ns_pod_uid/app/0.log';
const LINK = '/var/log/containers/pod_ns_app-0123456789.log';

function scene(state: ContainerRecord['state'], keepsUnverified = true) {
  const pod = { uid: 'uid', namespace: 'ns', name: 'pod' };
  const container = containerRecord({ id: '0123456789', name: 'app', state, pod });
  const runtime = new ContainerRuntime();
  runtime.containers = [container];
  runtime.logPathOf = () => LOG;
  const tree = new LogTree();
  for (const path of [LOG, `${LOG}.20240102-030405.gz`, LINK]) tree.files.set(path, 'lines');
  const places = { podLogsDir: '/var/log/pods', logLinksDir: '/var/log/containers' };
  const deps = { runtime, logs: containerLogs(tree, tree, places), keepsUnverified };
  return { runtime, tree, container, remove: () => removeDeadContainer(deps, container, SIGNAL) };
}

test('a dead container goes with its log, what was rotated from it, and the link to it', async (t) => {
  const { runtime, tree, remove } = scene('exited');
  t.deepEqual(await remove(), { kind: 'removed' });
  t.is(tree.files.size, 0);
  t.is(runtime.containers.length, 0);
});

test('a container whose log stays is left as the handle to try again by', async (t) => {
  const { runtime, tree, remove } = scene('exited');
  tree.unremovable = [LOG];
  await t.throwsAsync(remove());
  t.deepEqual(runtime.calls, []);
});

test('one that runs by now stays with its log', async (t) => {
  const { runtime, tree, container, remove } = scene('exited');
  runtime.containers = [{ ...container, state: 'running' }];
  t.deepEqual(await remove(), { kind: 'skipped', why: 'it runs now' });
  t.is(tree.files.size, 3);
});

test('one that is gone already is no failure', async (t) => {
  const { runtime, remove } = scene('exited');
  runtime.containers = [];
  t.deepEqual(await remove(), { kind: 'skipped', why: 'it is gone already' });
});

test('one of an unknown state is stopped first; what cannot be told after that the profile decides', async (t) => {
  const careful = scene('unknown');
  t.is((await careful.remove()).kind, 'skipped');
  const kubelet = scene('unknown', false);
  t.is((await kubelet.remove()).kind, 'removed');
  t.deepEqual(
    [careful, kubelet].map(({ runtime }) => runtime.calls.map(({ call }) => call)),
    [['StopContainer'], ['StopContainer', 'RemoveContainer']],
  );
});

test('a log that lies elsewhere is not touched, and keeps no container', async (t) => {
  const { runtime, tree, remove } = scene('exited');
  runtime.logPathOf = () => '/elsewhere/0.log';
  tree.files.set('/elsewhere/0.log', 'lines');
  t.deepEqual(await remove(), { kind: 'removed' });
  t.true(tree.files.has('/elsewhere/0.log'));
});
