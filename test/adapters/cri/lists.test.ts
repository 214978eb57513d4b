import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { connectRuntime } from '../../../src/adapters/cri/client.js';
import type { RuntimeError } from '../../../src/ports/runtime.js';
import { Container, ContainerStats, Image, PodSandbox } from '../../../src/proto/generated/cri.js';
import {
  answer,
  type ImageCalls,
  type RuntimeCalls,
  refuse,
  serveRuntime,
  socketDirectory,
  stream,
} from './fake-runtime.js';
import { wallClock } from './wall-clock.js';

async function connected(
  t: ExecutionContext,
  calls: RuntimeCalls,
  imageCalls: ImageCalls = {},
  maxMessageBytes?: number,
) {
  const path = `${await socketDirectory(t)}/r.sock`;
  const fake = await serveRuntime(path, calls, imageCalls);
  const limit = maxMessageBytes === undefined ? {} : { maxMessageBytes };
  const runtime = connectRuntime({ endpoint: fake.endpoint, now: wallClock, ...limit });
  t.teardown(async () => {
    await runtime.close();
    await fake.kill();
  });
  return { runtime, fake, path };
}

const batch = (ids: readonly string[]) => ({ containers: ids.map((id) => Container.fromPartial({ id })) });
const many = (length: number) => Array.from({ length }, (_, index) => `c${index}`);

test('where the runtime streams its lists, the unary calls are not made', async (t) => {
  const { runtime } = await connected(
    t,
    {
      streamContainers: stream([batch(['c1', 'c2']), batch(['c3'])]),
      streamPodSandboxes: stream([{ podSandboxes: [PodSandbox.fromPartial({ id: 's1' })] }]),
      streamContainerStats: stream([{ containerStats: [ContainerStats.fromPartial({ attributes: { id: 'c1' } })] }]),
    },
    { streamImages: stream([{ images: [Image.fromPartial({ id: 'i1' })] }]) },
  );
  // There are no unary ones to fall back to.
  t.deepEqual(
    (await runtime.listContainers()).map(({ id }) => id),
    ['c1', 'c2', 'c3'],
  );
  t.deepEqual(
    (await runtime.listSandboxes()).map(({ id }) => id),
    ['s1'],
  );
  t.deepEqual(
    (await runtime.listContainerUsage()).map(({ id }) => id),
    ['c1'],
  );
  t.deepEqual(
    (await runtime.listImages()).map(({ id }) => id),
    ['i1'],
  );
});

test('a stream that ends without a message is an empty list', async (t) => {
  const { runtime } = await connected(t, { streamContainers: stream([]), listContainers: answer(batch(['wrong'])) });
  t.deepEqual(await runtime.listContainers(), []);
});

test('50,000 containers come whole by stream, far beyond the limit of one message', async (t) => {
  const ids = many(50_000);
  const batches = Array.from({ length: 10 }, (_, index) => batch(ids.slice(index * 5000, (index + 1) * 5000)));
  const { runtime } = await connected(t, { streamContainers: stream(batches) }, {}, 128 * 1024);
  const containers = await runtime.listContainers();
  t.is(containers.length, 50_000);
  t.true(containers.every(({ id }, index) => id === ids[index]));
});

test('a stream that breaks off is an error: what came before is no list', async (t) => {
  const { runtime } = await connected(t, {
    streamContainers: stream([batch(['c1'])], { code: status.UNKNOWN, details: 'boom' }),
    listContainers: answer(batch(['c1'])),
  });
  const error = await t.throwsAsync<RuntimeError>(runtime.listContainers(), { name: 'RuntimeError' });
  t.is(error?.kind, 'failed');
  t.is(error?.call, 'StreamContainers');
});

test('UNIMPLEMENTED after some containers is a broken stream, not a missing one', async (t) => {
  const { runtime } = await connected(t, {
    streamContainers: stream([batch(['c1'])], { code: status.UNIMPLEMENTED, details: 'odd' }),
    listContainers: answer(batch(['c1'])),
  });
  const error = await t.throwsAsync<RuntimeError>(runtime.listContainers(), { name: 'RuntimeError' });
  t.is(error?.kind, 'unimplemented');
});

test('that there is no stream is asked once a connection, and again after it was lost', async (t) => {
  let asked = 0;
  const older: RuntimeCalls = {
    streamContainers: (call) => {
      asked += 1;
      call.emit('error', { code: status.UNIMPLEMENTED, details: 'unknown method StreamContainers' });
    },
    listContainers: answer(batch(['by-list'])),
  };
  const { runtime, fake, path } = await connected(t, older);
  for (let round = 0; round < 3; round += 1) t.is((await runtime.listContainers())[0]?.id, 'by-list');
  t.is(asked, 1);

  await fake.kill();
  await t.throwsAsync(runtime.identify());
  const newer = await serveRuntime(path, { streamContainers: stream([batch(['by-stream'])]) });
  t.teardown(() => newer.kill());
  t.is((await runtime.listContainers())[0]?.id, 'by-stream');
});

test('a stream that fails for another reason is not taken for a missing one', async (t) => {
  let asked = 0;
  const { runtime } = await connected(t, {
    streamContainers: (call) => {
      asked += 1;
      if (asked === 1) call.emit('error', { code: status.UNAVAILABLE, details: 'starting' });
      else call.end();
    },
    listContainers: answer(batch(['wrong'])),
  });
  await t.throwsAsync<RuntimeError>(runtime.listContainers(), { name: 'RuntimeError', message: /starting/ });
  t.deepEqual(await runtime.listContainers(), []);
});

test('a unary list beyond the message limit is a clear error', async (t) => {
  const { runtime } = await connected(t, { listContainers: answer(batch(many(5000))) }, {}, 4096);
  const error = await t.throwsAsync<RuntimeError>(runtime.listContainers(), { name: 'RuntimeError' });
  t.is(error?.kind, 'too-large');
  t.regex(error?.message ?? '', /^Cannot call ListContainers as the answer is larger than the message limit .*vs 4096/);
});

test('a list that fails is an error, not an empty list', async (t) => {
  const { runtime } = await connected(t, { listContainers: refuse(status.UNKNOWN, 'boom') });
  await t.throwsAsync<RuntimeError>(runtime.listContainers(), { name: 'RuntimeError', message: /boom/ });
});

test('an abort ends a list under way', async (t) => {
  const abort = new AbortController();
  const { runtime } = await connected(t, {
    streamContainers: (call) => {
      call.write(batch(['c1']));
      abort.abort();
    },
  });
  const error = await t.throwsAsync<RuntimeError>(runtime.listContainers(abort.signal), { name: 'RuntimeError' });
  t.is(error?.kind, 'cancelled');
});
