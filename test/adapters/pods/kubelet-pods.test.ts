import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { KubeletPods, type KubeletPodsLimits } from '../../../src/adapters/pods/kubelet-pods.js';
import { instant, milliseconds } from '../../../src/units/units.js';
import { VirtualClock } from '../../fakes/virtual-clock.js';
import { apiPod, kubeletEndpoint, listing } from './kubelet-endpoint.js';

/** On a busy machine an answer may take long without being late. */
const PATIENT = { timeout: milliseconds(30_000), maxBytes: 64 * 1024 };
const SHORT = { ...PATIENT, timeout: milliseconds(150) };

test('pods are listed by uid, with the time before they were asked for', async (t) => {
  const endpoint = await kubeletEndpoint(t, listing(apiPod('web', { priority: 7 }), apiPod('db')));
  const { answer, isFresh, problems } = await new KubeletPods(endpoint.url, new VirtualClock(), PATIENT).ask();
  t.deepEqual(problems, []);
  t.true(isFresh);
  t.is(answer?.askedAt, instant(1_000_000));
  t.deepEqual([...(answer?.pods.keys() ?? [])], ['uid-web', 'uid-db']);
  t.is(answer?.pods.get('uid-web')?.priority, 7);
});

test('a URL without a path asks for /pods', async (t) => {
  const endpoint = await kubeletEndpoint(t, listing());
  await new KubeletPods(new URL('/', endpoint.url).href, new VirtualClock(), PATIENT).ask();
  t.deepEqual(endpoint.asked, ['/pods']);
});

test('a kubelet that writes null for no pods has answered', async (t) => {
  const endpoint = await kubeletEndpoint(t, (_, response) => response.end('{"kind":"PodList","items":null}'));
  const { answer, problems } = await new KubeletPods(endpoint.url, new VirtualClock(), PATIENT).ask();
  t.is(answer?.pods.size, 0);
  t.deepEqual(problems, []);
});

test('a mirror as the API server lists it is found by the hash of its static pod', async (t) => {
  const annotations = { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.hash': 'abc' };
  const endpoint = await kubeletEndpoint(t, listing(apiPod('etcd-n1', {}, { metadata: { annotations } })));
  const { answer } = await new KubeletPods(endpoint.url, new VirtualClock(), PATIENT).ask();
  t.true(answer?.pods.get('abc')?.isMirror);
});

const ask = async (clock: VirtualClock, pods: KubeletPods, later: number) => {
  clock.skip(later);
  return pods.ask();
};

test('an answer serves for a second', async (t) => {
  const endpoint = await kubeletEndpoint(t, listing(apiPod('web')));
  const clock = new VirtualClock();
  const pods = new KubeletPods(endpoint.url, clock, PATIENT);
  await pods.ask();
  t.true((await ask(clock, pods, 999)).isFresh);
  t.is(endpoint.asked.length, 1);
  t.true((await ask(clock, pods, 1)).isFresh);
  t.is(endpoint.asked.length, 2);
});

test('what was last known holds for five minutes of failures, is never fresh, and then is unknown', async (t) => {
  const endpoint = await kubeletEndpoint(t, listing(apiPod('web')));
  const clock = new VirtualClock();
  const pods = new KubeletPods(endpoint.url, clock, PATIENT);
  await pods.ask();
  endpoint.answer = (_, response) => response.writeHead(503).end();
  const failing = await ask(clock, pods, 10_000);
  t.is(failing.answer?.pods.size, 1);
  t.false(failing.isFresh);
  t.regex(failing.problems[0]?.message ?? '', /status must be 200: 503; what it last said holds/);
  const late = await ask(clock, pods, 289_999);
  t.is(late.answer?.pods.size, 1);
  const tooLate = await ask(clock, pods, 1);
  t.is(tooLate.answer, null);
  t.regex(tooLate.problems[0]?.message ?? '', /unknown/);
  endpoint.answer = listing(apiPod('web'), apiPod('db'));
  const back = await ask(clock, pods, 10_000);
  t.is(back.answer?.pods.size, 2);
  t.deepEqual(back.problems, []);
});

test('after a failure the kubelet is left alone for ten seconds', async (t) => {
  const endpoint = await kubeletEndpoint(t, (_, response) => response.writeHead(500).end());
  const clock = new VirtualClock();
  const pods = new KubeletPods(endpoint.url, clock, PATIENT);
  await pods.ask();
  t.is((await ask(clock, pods, 9_999)).problems.length, 1);
  t.is(endpoint.asked.length, 1);
  await ask(clock, pods, 1);
  t.is(endpoint.asked.length, 2);
});

interface Row {
  readonly title: string;
  readonly answer: RequestListener;
  readonly says: RegExp;
  readonly limits?: KubeletPodsLimits;
}

const body =
  (text: string): RequestListener =>
  (_, response) =>
    response.end(text);

const FAILURES: readonly Row[] = [
  { title: 'no such path', answer: (_, response) => response.writeHead(404).end(), says: /must be 200: 404/ },
  {
    title: 'a redirect',
    answer: (_, response) => response.writeHead(302, { location: 'http://192.0.2.1/pods' }).end(),
    says: /redirects are not followed: 302 to http:\/\/192\.0\.2\.1\/pods/,
  },
  { title: 'half an object', answer: body('{"kind":"PodList","items":[{"metadata"'), says: /must be JSON: \{"kind/ },
  { title: 'nothing', answer: body(''), says: /must be JSON: nothing/ },
  { title: 'a page', answer: body('<html>\u001b[2J</html>'), says: /must be JSON: <html>\\u\{1b\}\[2J/ },
  { title: 'another kind', answer: body('{"kind":"NodeList","items":[]}'), says: /kind must be PodList: NodeList/ },
  {
    title: 'a list of pods that is none',
    answer: body('{"kind":"PodList","items":{}}'),
    says: /items must be a list: a map/,
  },
  { title: 'a list of pods without items', answer: body('{"kind":"PodList"}'), says: /items must be a list: null/ },
  { title: 'a bare list', answer: body('[]'), says: /kind must be PodList: null/ },
  {
    title: 'a text nested deeper than the stack',
    answer: body('['.repeat(60_000)),
    says: /must be JSON|must be PodList/,
  },
  {
    title: 'more than is read',
    answer: body(`{"kind":"PodList","items":[]${' '.repeat(PATIENT.maxBytes)}}`),
    says: /larger than this: 65536 bytes/,
  },
  {
    title: 'a body that never ends',
    answer: (_, response) => {
      response.on('error', () => undefined);
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', write);
      write();
    },
    says: /larger than this/,
  },
  { title: 'no answer', answer: () => undefined, says: /complete in time: 150 ms/, limits: SHORT },
  {
    title: 'an answer that stops half way',
    answer: (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":');
    },
    says: /complete in time: 150 ms/,
    limits: SHORT,
  },
  {
    title: 'an answer that is cut off',
    answer: (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":', () => response.destroy());
    },
    says: /connection must be made and hold: ECONNRESET/,
  },
];

for (const { title, answer, says, limits = PATIENT } of FAILURES) {
  test(`a failure that is told, and no empty list: ${title}`, async (t) => {
    const endpoint = await kubeletEndpoint(t, answer);
    const known = await new KubeletPods(endpoint.url, new VirtualClock(), limits).ask();
    t.is(known.answer, null);
    t.false(known.isFresh);
    t.is(known.problems.length, 1);
    t.is(known.problems[0]?.what, `the pods that ${endpoint.url} knows`);
    t.regex(known.problems[0]?.message ?? '', says);
    t.is(endpoint.asked.length, 1);
  });
}

test('nobody at the port is told', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const { problems } = await new KubeletPods(`http://127.0.0.1:${port}/pods`, new VirtualClock(), PATIENT).ask();
  t.regex(problems[0]?.message ?? '', /ECONNREFUSED/);
});

test('our own end is no failure of the endpoint', async (t) => {
  const abort = new AbortController();
  const endpoint = await kubeletEndpoint(t, () => {
    abort.abort();
  });
  t.deepEqual(await new KubeletPods(endpoint.url, new VirtualClock(), PATIENT).ask(abort.signal), {
    answer: null,
    isFresh: false,
    problems: [],
  });
});

test('a pod that cannot be used is named and takes no other with it', async (t) => {
  const bad = apiPod('bad', {
    priority: 2_000_000_000,
    containers: [{ name: 'a', resources: { limits: { memory: 'much' } } }],
  });
  const endpoint = await kubeletEndpoint(
    t,
    listing(null as unknown as object, { metadata: { name: 'x' } }, bad, apiPod('web')),
  );
  const { answer, problems } = await new KubeletPods(endpoint.url, new VirtualClock(), PATIENT).ask();
  t.deepEqual([...(answer?.pods.keys() ?? [])], ['uid-bad', 'uid-web']);
  t.is(answer?.pods.get('uid-bad')?.spec, null);
  t.is(answer?.pods.get('uid-bad')?.priority, 2_000_000_000);
  t.deepEqual(
    problems.map(({ message }) => message),
    [
      'items[0].metadata.name: Cannot use this value as a pod must have a name: ',
      'items[1].metadata.uid: Cannot use this value as a pod must have a uid: none of /x',
      'items[2].spec.containers[0].resources.limits.memory: Cannot use this value as it must be a quantity such as 100Mi: much of default/bad',
    ],
  );
});

test('of many faults ten are told and the others counted', async (t) => {
  const endpoint = await kubeletEndpoint(t, listing(...Array.from({ length: 25 }, () => ({}))));
  const { problems } = await new KubeletPods(endpoint.url, new VirtualClock(), PATIENT).ask();
  t.is(problems.length, 11);
  t.is(problems.at(-1)?.message, 'and 15 more faults');
});
