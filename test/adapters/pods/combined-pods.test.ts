import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { combinedPods } from '../../../src/adapters/pods/combined-pods.js';
import { criPods } from '../../../src/adapters/pods/cri-pods.js';
import { bytes, instant, milliseconds } from '../../../src/units/units.js';
import { VirtualClock } from '../../fakes/virtual-clock.js';
import { apiPod, kubeletEndpoint, listing } from './kubelet-endpoint.js';
import { containerOf, sandboxOf } from './records.js';

const MIB = 1024 * 1024;
/** On a busy machine an answer may take long without being late. */
const limits = { timeout: milliseconds(30_000), maxBytes: 1 << 20 };
const NOWHERE = { podsFrom: null, staticPodPath: null, limits } as const;

function manifests(t: ExecutionContext, ...specs: readonly { readonly name: string; readonly spec: object }[]): string {
  const path = mkdtempSync(join(tmpdir(), 'reclaimd-static-'));
  t.teardown(() => {
    rmSync(path, { recursive: true });
  });
  for (const { name, spec } of specs) {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [], ...spec } };
    writeFileSync(join(path, `${name}.json`), JSON.stringify(pod));
  }
  return path;
}

test('where nobody else is asked, pods are what the runtime says', async (t) => {
  const records = [[containerOf('web')], [sandboxOf('web')]] as const;
  const pods = combinedPods({ ...NOWHERE, clock: new VirtualClock() });
  t.deepEqual(await pods.list(...records), await criPods().list(...records));
  t.deepEqual(pods.takeProblems?.(), []);
});

test('facts of the endpoint stand beside what the runtime holds', async (t) => {
  const resources = { requests: { memory: '10Mi' }, limits: { 'ephemeral-storage': '1500m' } };
  const endpoint = await kubeletEndpoint(
    t,
    listing(apiPod('web', { priority: 2_000_000_000, containers: [{ name: 'app', resources }] })),
  );
  const pods = combinedPods({ ...NOWHERE, podsFrom: endpoint.url, clock: new VirtualClock() });
  const [web, other] = await pods.list([containerOf('web')], [sandboxOf('web'), sandboxOf('other')]);
  t.like(web, {
    uid: 'uid-web',
    source: 'api',
    priority: 2_000_000_000,
    memoryRequest: 10 * MIB,
    storageRequest: 2,
    terminationGrace: milliseconds(30_000),
    isFinished: false,
  });
  t.is(web?.spec?.containers.length, 1);
  t.is(web?.containers.length, 1);
  t.like(other, { uid: 'uid-other', priority: null, memoryRequest: null });
});

test('a pod of which the runtime holds nothing is none of ours', async (t) => {
  const endpoint = await kubeletEndpoint(t, listing(apiPod('pending', {}, { status: { phase: 'Pending' } })));
  t.deepEqual(await combinedPods({ ...NOWHERE, podsFrom: endpoint.url, clock: new VirtualClock() }).list([], []), []);
});

test('the endpoint wins over the manifest, and the manifest over the runtime', async (t) => {
  const spec = {
    priority: 5,
    terminationGracePeriodSeconds: 7,
    containers: [{ name: 'a', resources: { requests: { memory: '1Mi' } } }],
  };
  const staticPodPath = manifests(t, { name: 'etcd', spec }, { name: 'proxy', spec });
  const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'uid-etcd-n1' };
  const endpoint = await kubeletEndpoint(t, listing(apiPod('etcd-n1', { priority: 6 }, { metadata: { annotations } })));
  const pods = combinedPods({ ...NOWHERE, podsFrom: endpoint.url, staticPodPath, clock: new VirtualClock() });
  const listed = await pods.list(
    ['etcd-n1', 'proxy-n1', 'web'].map((name) => containerOf(name)),
    [sandboxOf('etcd-n1', { source: 'file' }), sandboxOf('proxy-n1', { source: 'file' }), sandboxOf('web')],
  );
  t.deepEqual(
    listed.map(({ name, priority, memoryRequest, terminationGrace, source }) => [
      name,
      priority,
      memoryRequest,
      terminationGrace,
      source,
    ]),
    [
      ['etcd-n1', 6, 0, 30_000, 'file'],
      ['proxy-n1', 5, MIB, 7_000, 'file'],
      ['web', null, null, 45_000, 'api'],
    ],
  );
});

test('whoever deletes a pod may give it less than it asked for, not more', async (t) => {
  const deleted = (seconds: number) => ({
    metadata: { deletionTimestamp: 'now', deletionGracePeriodSeconds: seconds },
  });
  const web = deleted(3);
  const db = deleted(300);
  const endpoint = await kubeletEndpoint(
    t,
    listing(apiPod('web', {}, { metadata: { ...web.metadata } }), apiPod('db', {}, { metadata: { ...db.metadata } })),
  );
  const pods = combinedPods({ ...NOWHERE, podsFrom: endpoint.url, clock: new VirtualClock() });
  const listed = await pods.list([], [sandboxOf('web'), sandboxOf('db')]);
  t.deepEqual(
    listed.map(({ terminationGrace }) => terminationGrace),
    [milliseconds(3_000), milliseconds(30_000)],
  );
});

test('an absurd request is a very large one', async (t) => {
  const resources = { requests: { memory: '1e300' } };
  const endpoint = await kubeletEndpoint(t, listing(apiPod('web', { containers: [{ name: 'a', resources }] })));
  const pods = combinedPods({ ...NOWHERE, podsFrom: endpoint.url, clock: new VirtualClock() });
  const [web] = await pods.list([], [sandboxOf('web')]);
  t.is(web?.memoryRequest, bytes(Number.MAX_SAFE_INTEGER));
});

interface Fate {
  readonly title: string;
  readonly listed: readonly object[];
  readonly sandbox: Parameters<typeof sandboxOf>[1];
  /** Null: gone. */
  readonly isFinished: boolean | null;
}

const DOWN = { state: 'notready' } as const;

/** What becomes of the pod `web`, whose runtime part is as given. */
const FATES: readonly Fate[] = [
  { title: 'not listed and down: gone', listed: [apiPod('db')], sandbox: DOWN, isFinished: null },
  { title: 'not listed and up: still there', listed: [apiPod('db')], sandbox: {}, isFinished: false },
  {
    title: 'not listed, down, and made after the question: not gone',
    listed: [apiPod('db')],
    sandbox: { ...DOWN, createdAt: instant(1_000_000) },
    isFinished: true,
  },
  { title: 'nobody listed, as right after a start: not gone', listed: [], sandbox: DOWN, isFinished: true },
  {
    title: 'no pod of its source listed: not gone',
    listed: [apiPod('etcd', {}, { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } })],
    sandbox: DOWN,
    isFinished: true,
  },
  {
    title: 'running and between two sandboxes: not finished',
    listed: [apiPod('web')],
    sandbox: DOWN,
    isFinished: false,
  },
  {
    title: 'succeeded: finished',
    listed: [apiPod('web', {}, { status: { phase: 'Succeeded' } })],
    sandbox: DOWN,
    isFinished: true,
  },
  {
    title: 'being deleted and down: finished',
    listed: [apiPod('web', {}, { metadata: { deletionTimestamp: 'now' } })],
    sandbox: DOWN,
    isFinished: true,
  },
  {
    title: 'failed, and still up: not finished',
    listed: [apiPod('web', {}, { status: { phase: 'Failed' } })],
    sandbox: {},
    isFinished: false,
  },
];

for (const { title, listed, sandbox, isFinished } of FATES) {
  test(`a pod that is ${title}`, async (t) => {
    const endpoint = await kubeletEndpoint(t, listing(...listed));
    const pods = combinedPods({ ...NOWHERE, podsFrom: endpoint.url, clock: new VirtualClock() });
    const [web] = await pods.list([], [sandboxOf('web', sandbox)]);
    t.is(web?.isFinished ?? null, isFinished);
  });
}

test('from an old answer nobody is gone or kept from being finished, and the facts stand', async (t) => {
  const endpoint = await kubeletEndpoint(t, listing(apiPod('web', { priority: 9 })));
  const clock = new VirtualClock();
  const pods = combinedPods({ ...NOWHERE, podsFrom: endpoint.url, clock });
  const list = () => pods.list([], [sandboxOf('web', DOWN), sandboxOf('new', DOWN)]);
  await list();
  endpoint.answer = (_, response) => response.writeHead(500).end();
  clock.skip(60_000);
  t.deepEqual(
    (await list()).map(({ name, priority, isFinished }) => [name, priority, isFinished]),
    [
      ['web', 9, true],
      ['new', null, true],
    ],
  );
  clock.skip(240_000);
  t.deepEqual(
    (await list()).map(({ priority, storageRequest }) => [priority, storageRequest]),
    [
      [9, null],
      [null, null],
    ],
    'what cannot change in the life of a pod stays known; the rest is unknown after five minutes',
  );
});

test('a problem is told once for as long as it lasts, and again when it comes back', async (t) => {
  const endpoint = await kubeletEndpoint(t, (_, response) => response.writeHead(500).end());
  const clock = new VirtualClock();
  const pods = combinedPods({ ...NOWHERE, podsFrom: endpoint.url, staticPodPath: '/nonexistent/manifests', clock });
  const told = async () => {
    clock.skip(10_000);
    await pods.list([], []);
    return pods.takeProblems?.().map(({ what }) => what.replace(endpoint.url, 'URL'));
  };
  t.deepEqual(await told(), ['the pods that URL knows', 'the static pods in /nonexistent/manifests']);
  t.deepEqual(await told(), []);
  endpoint.answer = listing();
  t.deepEqual(await told(), []);
  endpoint.answer = (_, response) => response.writeHead(500).end();
  t.deepEqual(await told(), ['the pods that URL knows']);
});

test('images that pods name are wanted until the pod has finished, those of pods that have not come yet too', async (t) => {
  const wants = (name: string, image: string, phase: string) =>
    apiPod(name, { containers: [{ name: 'app', image }] }, { status: { phase } });
  const endpoint = await kubeletEndpoint(
    t,
    listing(wants('pending', 'new:1', 'Pending'), wants('web', 'web:1', 'Running'), wants('job', 'job:1', 'Succeeded')),
  );
  const path = manifests(t, { name: 'dns', spec: { containers: [{ name: 'dns', image: 'dns:1' }] } });
  const pods = combinedPods({ limits, podsFrom: endpoint.url, staticPodPath: path, clock: new VirtualClock() });
  const wanted = (await pods.wantedImages?.())?.map(({ pod, reference }) => `${pod} ${reference}`);
  t.deepEqual(wanted?.toSorted(), ['default/dns dns:1', 'default/pending new:1', 'default/web web:1']);
});
