import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { type CriRuntime, connectRuntime } from '../../../src/adapters/cri/client.js';
import { PortError } from '../../../src/ports/port-error.js';
import type { RuntimeError } from '../../../src/ports/runtime.js';
import {
  Container,
  ContainerStats,
  ContainerStatus,
  FilesystemUsage,
  Image,
  PodSandbox,
  type RemoveImageRequest,
  type StopContainerRequest,
} from '../../../src/proto/generated/cri.js';
import { bytes, milliseconds } from '../../../src/units/units.js';
import {
  answer,
  type ImageCalls,
  mute,
  type RuntimeCalls,
  refuse,
  serveRuntime,
  socketDirectory,
} from './fake-runtime.js';
import { wallClock } from './wall-clock.js';

async function connected(
  t: ExecutionContext,
  calls: RuntimeCalls = {},
  imageCalls: ImageCalls = {},
  requestTimeoutMs = 20_000,
): Promise<CriRuntime> {
  const fake = await serveRuntime(`${await socketDirectory(t)}/r.sock`, calls, imageCalls);
  const requestTimeout = milliseconds(requestTimeoutMs);
  const runtime = connectRuntime({ endpoint: fake.endpoint, now: wallClock, requestTimeout });
  t.teardown(async () => {
    await runtime.close();
    await fake.kill();
  });
  return runtime;
}

const failure = async (t: ExecutionContext, promise: Promise<unknown>): Promise<RuntimeError> =>
  await t.throwsAsync<RuntimeError>(promise, { name: 'RuntimeError' });

test('a runtime tells its name and version', async (t) => {
  const runtime = await connected(t);
  t.deepEqual(await runtime.identify(), { name: 'containerd', version: 'v2.1.0', apiVersion: 'v1' });
});

const health = test.macro(
  async (t: ExecutionContext, conditions: readonly (readonly [string, boolean])[], ready: boolean, reason: string) => {
    const list = conditions.map(([type, ok]) => ({
      type,
      status: ok,
      reason: ok ? '' : 'Why',
      message: ok ? '' : 'because',
    }));
    const runtime = await connected(t, { status: answer({ status: { conditions: list }, info: {} }) });
    t.deepEqual(await runtime.health(), { ready, reason });
  },
);
test(
  'a runtime is well when RuntimeReady is true, whatever else is not',
  health,
  [
    ['NetworkReady', false],
    ['ContainerdHasNoDeprecationWarnings', false],
    ['RuntimeReady', true],
  ],
  true,
  '',
);
test('a runtime that is not ready says why', health, [['RuntimeReady', false]], false, 'Why: because');
test(
  'a runtime without a RuntimeReady condition is not ready',
  health,
  [['NetworkReady', true]],
  false,
  'the runtime reports no RuntimeReady condition',
);

test('health of a runtime that cannot be asked is an error, not ill health', async (t) => {
  const runtime = await connected(t, { status: refuse(status.UNKNOWN, 'boom') });
  t.is((await failure(t, runtime.health())).kind, 'failed');
});

test('lists come from an older runtime by its unary calls', async (t) => {
  const runtime = await connected(
    t,
    {
      listContainers: answer({ containers: [Container.fromPartial({ id: 'c1' })] }),
      listPodSandbox: answer({ items: [PodSandbox.fromPartial({ id: 's1' })] }),
      listContainerStats: answer({ stats: [ContainerStats.fromPartial({ attributes: { id: 'c1' } })] }),
    },
    { listImages: answer({ images: [Image.fromPartial({ id: 'i1' })] }) },
  );
  t.deepEqual(
    (await runtime.listContainers()).map(({ id }) => id),
    ['c1'],
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

test('ImageFsInfo tells both kinds of filesystems', async (t) => {
  const at = (mountpoint: string) => FilesystemUsage.fromPartial({ fsId: { mountpoint }, usedBytes: { value: 5n } });
  const runtime = await connected(
    t,
    {},
    { imageFsInfo: answer({ imageFilesystems: [at('/i')], containerFilesystems: [at('/c')] }) },
  );
  const info = await runtime.imageFsInfo();
  t.deepEqual(
    info.imageFilesystems.map(({ mountpoint }) => mountpoint),
    ['/i'],
  );
  t.is(info.imageFilesystems[0]?.usedBytes, bytes(5));
  t.deepEqual(
    info.containerFilesystems.map(({ mountpoint }) => mountpoint),
    ['/c'],
  );
});

test('a container that is there has a status, one that is gone has none', async (t) => {
  const runtime = await connected(t, {
    containerStatus: (call, reply) => {
      if (call.request.containerId === 'c1')
        reply(null, { status: ContainerStatus.fromPartial({ id: 'c1' }), info: {} });
      else reply({ code: status.NOT_FOUND, details: 'no such container' });
    },
  });
  t.is((await runtime.containerStatus('c1'))?.id, 'c1');
  t.is(await runtime.containerStatus('c2'), null);
});

test('a status that holds nothing tells nothing: neither that the container is there nor that it is gone', async (t) => {
  const runtime = await connected(t, { containerStatus: answer({ status: undefined, info: {} }) });
  const error = await t.throwsAsync(runtime.containerStatus('c1'), { instanceOf: PortError });
  t.is(error.message, "Cannot tell the state of a container as the runtime's answer must hold a status: c1");
});

test('a log is reopened for the container that is named, and a container that is gone is a failure', async (t) => {
  const seen: unknown[] = [];
  const runtime = await connected(t, { reopenContainerLog: answer({}, seen) });
  await runtime.reopenContainerLog('c1');
  t.deepEqual(seen, [{ containerId: 'c1' }]);
  const strict = await connected(t, { reopenContainerLog: refuse(status.NOT_FOUND, 'no such container') });
  const error = await failure(t, strict.reopenContainerLog('c2'));
  t.deepEqual([error.kind, error.call, error.target], ['not-found', 'ReopenContainerLog', 'c2']);
});

test('an image that no reference finds is null, by an empty answer or by NOT_FOUND', async (t) => {
  const empty = await connected(t, {}, { imageStatus: answer({ image: undefined, info: {} }) });
  t.is(await empty.imageStatus('a:1'), null);
  const strict = await connected(t, {}, { imageStatus: refuse(status.NOT_FOUND, 'no image') });
  t.is(await strict.imageStatus('a:1'), null);
  const there = await connected(t, {}, { imageStatus: answer({ image: Image.fromPartial({ id: 'i1' }), info: {} }) });
  t.is((await there.imageStatus('a:1'))?.id, 'i1');
});

test('what is asked to go is what is named', async (t) => {
  const seen: unknown[] = [];
  const images: RemoveImageRequest[] = [];
  const runtime = await connected(
    t,
    {
      removeContainer: answer({}, seen),
      stopPodSandbox: answer({}, seen),
      removePodSandbox: answer({}, seen),
    },
    { removeImage: answer({}, images) },
  );
  await runtime.removeContainer('c1');
  await runtime.stopSandbox('s1');
  await runtime.removeSandbox('s2');
  await runtime.removeImage('sha256:i');
  t.deepEqual(seen, [{ containerId: 'c1' }, { podSandboxId: 's1' }, { podSandboxId: 's2' }]);
  t.is(images[0]?.image?.image, 'sha256:i');
});

test('what is gone already is removed and stopped with success', async (t) => {
  const gone = refuse<unknown, never>(status.NOT_FOUND, 'not found');
  const runtime = await connected(
    t,
    { removeContainer: gone, stopContainer: gone, stopPodSandbox: gone, removePodSandbox: gone },
    { removeImage: gone },
  );
  await t.notThrowsAsync(runtime.removeContainer('c'));
  await t.notThrowsAsync(runtime.stopContainer('c', milliseconds(0)));
  await t.notThrowsAsync(runtime.stopSandbox('s'));
  await t.notThrowsAsync(runtime.removeSandbox('s'));
  await t.notThrowsAsync(runtime.removeImage('i'));
});

test('a removal that fails is an error with its kind, call and target', async (t) => {
  const runtime = await connected(t, {
    removeContainer: refuse(status.UNKNOWN, 'container is already in removing state'),
  });
  const error = await failure(t, runtime.removeContainer('c1'));
  t.is(error.kind, 'busy');
  t.is(error.call, 'RemoveContainer');
  t.is(error.target, 'c1');
});

test('a stop asks for whole seconds, rounded up, and gives the runtime longer than that', async (t) => {
  const seen: { request: StopContainerRequest; remainingMs: number }[] = [];
  // The request timeout is far shorter: a stop that ended with it would never kill.
  const runtime = await connected(
    t,
    {
      stopContainer: (call, reply) => {
        seen.push({ request: call.request, remainingMs: Number(call.getDeadline()) - wallClock() });
        reply(null, {});
      },
    },
    {},
    50,
  );
  await runtime.stopContainer('c1', milliseconds(30_500));
  t.deepEqual(seen[0]?.request, { containerId: 'c1', timeout: 31n });
  const remaining = seen[0]?.remainingMs ?? 0;
  // Some of it went by on the way.
  t.true(remaining > 35_000 && remaining < 41_100, `${remaining} ms`);
});

test('a call that is not answered ends at its deadline', async (t) => {
  const runtime = await connected(t, { removeContainer: mute() }, {}, 100);
  const error = await failure(t, runtime.removeContainer('c1'));
  t.is(error.kind, 'deadline');
  t.regex(error.message, /^Cannot call RemoveContainer for c1 as .* in time/);
});

test('every call that reads has a deadline too', async (t) => {
  const never = mute<unknown, never>();
  const runtime = await connected(
    t,
    {
      version: never,
      status: never,
      containerStatus: never,
      // A stream that opens and says nothing.
      streamContainers: () => undefined,
      listPodSandbox: never,
      listContainerStats: never,
    },
    { imageStatus: never, imageFsInfo: never, listImages: never },
    50,
  );
  const calls: Record<string, () => Promise<unknown>> = {
    identify: () => runtime.identify(),
    health: () => runtime.health(),
    containerStatus: () => runtime.containerStatus('c'),
    listContainers: () => runtime.listContainers(),
    listSandboxes: () => runtime.listSandboxes(),
    listContainerUsage: () => runtime.listContainerUsage(),
    imageStatus: () => runtime.imageStatus('i'),
    imageFsInfo: () => runtime.imageFsInfo(),
    listImages: () => runtime.listImages(),
  };
  for (const [name, call] of Object.entries(calls)) t.is((await failure(t, call())).kind, 'deadline', name);
});

test('an abort cancels the call, on the side of the runtime too', async (t) => {
  let cancelled: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => {
    cancelled = resolve;
  });
  const abort = new AbortController();
  const runtime = await connected(t, {
    removeContainer: (call) => {
      call.on('cancelled', cancelled);
      abort.abort();
    },
  });
  const error = await failure(t, runtime.removeContainer('c1', abort.signal));
  t.is(error.kind, 'cancelled');
  await heard;
});

test('an abort ends the wait for a stop, however long its grace', async (t) => {
  const abort = new AbortController();
  const runtime = await connected(t, { stopContainer: () => abort.abort() });
  const error = await failure(t, runtime.stopContainer('c1', milliseconds(3_600_000), abort.signal));
  t.is(error.kind, 'cancelled');
  t.is(error.target, 'c1');
});

test('a call whose signal has aborted is not made', async (t) => {
  const seen: unknown[] = [];
  const runtime = await connected(t, { removeContainer: answer({}, seen) });
  t.is((await failure(t, runtime.removeContainer('c1', AbortSignal.abort()))).kind, 'cancelled');
  t.deepEqual(seen, []);
});

test('a batch of calls under one signal is cancelled as a whole, and is no leak of listeners', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  t.teardown(() => process.off('warning', onWarning));
  const abort = new AbortController();
  let started = 0;
  const runtime = await connected(t, {
    removeContainer: () => {
      started += 1;
      if (started === 50) abort.abort();
    },
  });
  const ids = Array.from({ length: 50 }, (_, index) => `c${index}`);
  const errors = await Promise.all(ids.map((id) => failure(t, runtime.removeContainer(id, abort.signal))));
  t.true(errors.every(({ kind }) => kind === 'cancelled'));
  t.deepEqual(
    errors.map(({ target }) => target),
    ids,
  );
  t.deepEqual(warnings, []);
});

test('closing cancels what is under way and refuses what comes later', async (t) => {
  let started: () => void = () => undefined;
  const underWay = new Promise<void>((resolve) => {
    started = resolve;
  });
  const runtime = await connected(t, { removeContainer: () => started() });
  const call = failure(t, runtime.removeContainer('c1'));
  await underWay;
  await runtime.close();
  t.is((await call).kind, 'cancelled');
  t.is((await failure(t, runtime.identify())).kind, 'cancelled');
  await t.notThrowsAsync(runtime.close());
});

test('a runtime is closed at the end of its block', async (t) => {
  const fake = await serveRuntime(`${await socketDirectory(t)}/r.sock`);
  t.teardown(() => fake.kill());
  let left: CriRuntime | undefined;
  {
    await using runtime = connectRuntime({ endpoint: fake.endpoint, now: wallClock });
    await runtime.identify();
    left = runtime;
  }
  t.is((await failure(t, left.identify())).kind, 'cancelled');
});

test('what is no endpoint is refused before anything is dialled', (t) => {
  t.throws(() => connectRuntime({ endpoint: 'tcp://x', now: wallClock }), { message: /Cannot use runtime endpoint/ });
});
