import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { connectRuntime } from '../../../src/adapters/cri/client.js';
import type { RuntimeError, RuntimeErrorKind } from '../../../src/ports/runtime.js';
import { ContainerEventResponse } from '../../../src/proto/generated/cri.js';
import { type RuntimeCalls, refuse, serveRuntime, socketDirectory, stream } from './fake-runtime.js';
import { wallClock } from './wall-clock.js';

async function connected(t: ExecutionContext, calls: RuntimeCalls) {
  const path = `${await socketDirectory(t)}/r.sock`;
  const fake = await serveRuntime(path, calls);
  const runtime = connectRuntime({ endpoint: fake.endpoint, now: wallClock });
  t.teardown(async () => {
    await runtime.close();
    await fake.kill();
  });
  return { runtime, fake };
}

const event = (containerId: string, containerEventType: 0 | 1 | 2 | 3) =>
  ContainerEventResponse.fromPartial({ containerId, containerEventType });

test('a subscription says that it stands before anything has happened', async (t) => {
  const { runtime } = await connected(t, { getContainerEvents: () => undefined });
  const events = runtime.events(new AbortController().signal)[Symbol.asyncIterator]();
  t.deepEqual(await events.next(), { done: false, value: { id: '', kind: 'subscribed' } });
  // Nothing more comes, and yet it can be left.
  t.deepEqual(await events.return?.(undefined), { done: true, value: undefined });
});

test('events come in order, whatever their kind', async (t) => {
  const { runtime } = await connected(t, {
    getContainerEvents: (call) => {
      for (const kind of [0, 1, 2, 3] as const) call.write(event(`c${kind}`, kind));
      // A kind of a later protocol.
      const later = event('c9', 0);
      Object.assign(later, { containerEventType: 9 });
      call.write(later);
    },
  });
  const abort = new AbortController();
  const seen: string[] = [];
  for await (const { id, kind } of runtime.events(abort.signal)) {
    seen.push(`${kind} ${id}`.trim());
    if (id === 'c9') abort.abort();
  }
  t.deepEqual(seen, ['subscribed', 'created c0', 'started c1', 'stopped c2', 'deleted c3', 'created c9']);
});

test('where the runtime has no events they end quietly', async (t) => {
  const { runtime } = await connected(t, {});
  const kinds: string[] = [];
  for await (const { kind } of runtime.events(new AbortController().signal)) kinds.push(kind);
  // The answer to the probe may come first; it is a reason to list, no more.
  t.true(kinds.every((kind) => kind === 'subscribed'));
});

const broken = test.macro({
  async exec(t, calls: RuntimeCalls, kind: RuntimeErrorKind, message: RegExp) {
    const { runtime } = await connected(t, calls);
    const error = await t.throwsAsync<RuntimeError>(
      async () => {
        for await (const _ of runtime.events(new AbortController().signal));
      },
      { name: 'RuntimeError' },
    );
    t.is(error?.kind, kind);
    t.regex(error?.message ?? '', message);
  },
  title: (title = '') => `events break when ${title}`,
});
test(
  'the stream fails',
  broken,
  { getContainerEvents: stream([event('c', 0)], { code: 2, details: 'boom' }) },
  'failed',
  /boom/,
);
test(
  'the runtime ends the stream',
  broken,
  { getContainerEvents: stream([event('c', 0)]) },
  'unavailable',
  /ended the stream/,
);
const noCri: RuntimeCalls = { version: refuse(status.UNIMPLEMENTED, 'unknown service runtime.v1.RuntimeService') };
test('it is no CRI that does not have them', broken, noCri, 'unimplemented', /must serve CRI v1/);

test('events break when the runtime is killed', async (t) => {
  const { runtime, fake } = await connected(t, { getContainerEvents: () => undefined });
  const events = runtime.events(new AbortController().signal)[Symbol.asyncIterator]();
  await events.next();
  const next = events.next();
  await fake.kill();
  const error = await t.throwsAsync<RuntimeError>(next, { name: 'RuntimeError' });
  t.is(error?.kind, 'unavailable');
});

test('an abort ends the wait for an event, without an error', async (t) => {
  const { runtime } = await connected(t, { getContainerEvents: () => undefined });
  const abort = new AbortController();
  const events = runtime.events(abort.signal)[Symbol.asyncIterator]();
  await events.next();
  const next = events.next();
  abort.abort();
  t.deepEqual(await next, { done: true, value: undefined });
});

test('a subscription whose signal has aborted is over before it begins', async (t) => {
  const { runtime } = await connected(t, { getContainerEvents: () => undefined });
  t.deepEqual(await runtime.events(AbortSignal.abort())[Symbol.asyncIterator]().next(), {
    done: true,
    value: undefined,
  });
});
