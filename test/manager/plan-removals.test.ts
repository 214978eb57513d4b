import test from 'ava';
import type { AskedPressure } from '../../src/eviction/asked-pressure.js';
import { planRemovals } from '../../src/manager/plan-removals.js';
import { instant } from '../../src/units/units.js';
import { limit, threshold } from '../fakes/builders.js';
import { FakeNode } from '../fakes/fake-node.js';
import { type FakeWorld, PATHS } from '../fakes/fake-world.js';
import { HERE, planningOf } from '../fakes/planning.js';
import { emptyWorld, GONE, MIB, putContainer, putImage, putPod, putSandbox } from '../fakes/scenery.js';

const ASKED: AskedPressure = { signal: null, target: null };
const UID = '12345678-1234-1234-1234-123456789abc';

function planOf(world: FakeWorld, wishes: Parameters<typeof planningOf>[1] = {}, asked = ASKED, node = nodeOf(world)) {
  const { signal } = new AbortController();
  return world.clock.run(planRemovals(planningOf(node, wishes), asked, HERE, signal));
}

function nodeOf(world: FakeWorld, line = '100Mi') {
  return new FakeNode(world, { thresholds: [threshold('nodefs.available', line, { minReclaim: '10Mi' })] });
}

test('what goes comes first in the order of removal, then what stays with its reason', async (t) => {
  const world = emptyWorld();
  const web = putPod(world, 'web');
  putContainer(world, 'server', web, { state: 'running', base: 'sha256:used' });
  putContainer(world, 'nobody', null, {});
  putContainer(world, 'of-gone', GONE, {});
  putSandbox(world, GONE, { state: 'notready' });
  for (const name of ['unused', 'used', 'kept']) putImage(world, name);
  const { plan } = await planOf(world, { protectedImages: ['kept:*'] });
  t.deepEqual(
    plan.entries.map(({ what, id, goes, why }) => [what, id, goes, why]),
    [
      ['container', 'of-gone', true, 'its pod is gone'],
      ['sandbox', 'sandbox-gone', true, 'its pod is gone'],
      ['image', 'sha256:unused', true, 'unused since first seen 0 s ago'],
      ['container', 'server', false, 'it runs'],
      ['container', 'nobody', false, 'it belongs to no pod, so it is nobody’s to remove'],
      ['sandbox', 'sandbox-web', false, 'it is ready'],
      ['image', 'sha256:used', false, 'used by container server'],
      ['image', 'sha256:kept', false, 'protected by kept:*'],
    ],
  );
});

test('without a target the line and its minimum reclaim are the goal; a target takes their place', async (t) => {
  const world = emptyWorld();
  const goals = async (asked: AskedPressure) => (await planOf(world, {}, asked)).plan.goals;
  t.deepEqual(await goals(ASKED), [{ signal: 'nodefs.available', line: 100 * MIB, target: 110 * MIB }]);
  const half = { signal: 'imagefs.available', target: limit('50%') } as const;
  t.deepEqual(await goals(half), [{ signal: 'imagefs.available', line: 500 * MIB, target: 500 * MIB }]);
  t.deepEqual(await goals({ signal: null, target: 'all' }), []);
});

test('a disk that nothing is known of, and one that nobody wants anything of, cannot be planned for', async (t) => {
  const world = emptyWorld();
  const bare = new FakeNode(world, { thresholds: [] });
  await t.throwsAsync(planOf(world, {}, ASKED, bare), { message: /a disk signal must have a threshold/ });
  const memory = { signal: 'memory.available', target: limit('1Gi') } as const;
  await t.throwsAsync(planOf(world, {}, memory), { message: /the signal must be one of a disk: memory.available/ });
});

test('log directories of nobody go when they were left alone for five minutes', async (t) => {
  const world = emptyWorld();
  const uid = (last: string) => `${UID.slice(0, -1)}${last}`;
  for (const last of ['1', '2', '3']) world.logs.set(`${PATHS.logs}/d_p_${uid(last)}/c/0.log`, { bytes: 7, inodes: 1 });
  putContainer(world, 'known', { uid: uid('3'), namespace: 'd', name: 'p' }, { state: 'running' });
  const now = world.clock.wall();
  const changedAt = (path: string) => instant(now - (path.endsWith('1') ? 300_000 : 299_000));
  const logs = async (wishes: Parameters<typeof planningOf>[1]) =>
    (await planOf(world, { changedAt, ...wishes })).plan.entries
      .filter((each) => each.what === 'pod-logs')
      .map(({ label, goes, why, frees }) => [label, goes, why, frees]);
  t.deepEqual(await logs({}), [
    [`d_p_${uid('1')}`, true, 'its pod is gone', 7],
    [`d_p_${uid('2')}`, false, 'it changed less than 300 s ago', null],
  ]);
  const stays = (why: string) => [uid('1'), uid('2')].map((each) => [`d_p_${each}`, false, why, null]);
  t.deepEqual(await logs({ kubeletRuns: true }), stays('a kubelet runs here and looks after its logs'));
  t.deepEqual(await logs({ changedAt: () => null }), stays('nobody can tell how old it is'));
  t.deepEqual(await logs({ ownerScope: 'images' }), stays('only images are to be removed (ownerScope)'));
});

test('what lies on another disk frees nothing here, and what is not needed there is not planned', async (t) => {
  const world = emptyWorld('image-disk');
  putContainer(world, 'dead', GONE, { mib: 20, logMib: 5 });
  putImage(world, 'unused');
  const node = new FakeNode(world, { thresholds: [] });
  const frees = async (signal: 'nodefs.available' | 'imagefs.available') =>
    (await planOf(world, {}, { signal, target: 'all' }, node)).plan.entries.map((each) => [each.id, each.frees]);
  t.deepEqual(await frees('nodefs.available'), [['dead', 5 * MIB]]);
  t.deepEqual(await frees('imagefs.available'), [
    ['dead', 20 * MIB],
    ['sha256:unused', 20 * MIB + 4_096],
  ]);
});

test('sizes that nobody tells are unknown, never nothing', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'silent', GONE, { told: 'no-numbers' });
  putImage(world, 'unused');
  const { plan } = await planOf(world, { tellsContent: false });
  t.deepEqual(
    plan.entries.map(({ id, unique, frees, ownLayers }) => [id, unique, frees, ownLayers]),
    [
      ['silent', null, null, null],
      ['sha256:unused', null, null, null],
    ],
  );
});

test('what cannot be listed makes the plan incomplete and hides nothing of the rest', async (t) => {
  const world = emptyWorld();
  putContainer(world, 'dead', GONE, {});
  putImage(world, 'unused');
  const node = nodeOf(world);
  node.runtime.fail('listImages', 'failed');
  const { plan } = await planOf(world, {}, ASKED, node);
  t.deepEqual(
    plan.entries.map((each) => each.id),
    ['dead'],
  );
  t.regex(plan.problems.join(), /^the images cannot be listed: /);
});

test('the ranking leaves out what would go before', async (t) => {
  const world = emptyWorld();
  const job = putPod(world, 'job');
  putContainer(world, 'done', job, { mib: 40 });
  putContainer(world, 'works', job, { state: 'running', mib: 3 });
  putPod(world, 'dns', { namespace: 'kube-system', isMirror: true });
  const { plan } = await planOf(world);
  t.deepEqual(
    plan.ranking?.map(({ label, usage, protectedBy }) => [label, usage, protectedBy]),
    [
      ['default/job', 3 * MIB, null],
      ['kube-system/dns', 0, 'mirror of a static pod'],
    ],
  );
});
