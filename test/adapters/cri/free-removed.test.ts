import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { connectRuntime } from '../../../src/adapters/cri/client.js';
import type { RuntimeError } from '../../../src/ports/runtime.js';
import { type LeasesServer, LeasesService } from '../../../src/proto/generated/leases.js';
import { answer, IDENTITY, type RuntimeCalls, refuse, serveRuntime, socketDirectory } from './fake-runtime.js';
import { wallClock } from './wall-clock.js';

async function connected(t: ExecutionContext, leases: Partial<LeasesServer>, calls: RuntimeCalls = {}) {
  const fake = await serveRuntime(`${await socketDirectory(t)}/r.sock`, calls, {}, [[LeasesService, leases]]);
  const runtime = connectRuntime({ endpoint: fake.endpoint, now: wallClock });
  t.teardown(async () => {
    await runtime.close();
    await fake.kill();
  });
  return runtime;
}

test('containerd is made to free by a lease that ends at once, in the namespace of its CRI plugin', async (t) => {
  const seen: unknown[] = [];
  const runtime = await connected(t, {
    create: ({ request, metadata }, reply) => {
      seen.push(metadata.get('containerd-namespace'), Object.keys(request.labels));
      reply(null, { lease: { id: 'l1' } });
    },
    delete: ({ request, metadata }, reply) => {
      seen.push(metadata.get('containerd-namespace'), request);
      reply(null, {});
    },
  });
  t.true(await runtime.freeRemoved());
  t.deepEqual(seen, [['k8s.io'], ['containerd.io/gc.expire'], ['k8s.io'], { id: 'l1', sync: true }]);
});

test('the lease ends by itself soon, should nobody end it', async (t) => {
  let expires = 0;
  const runtime = await connected(t, {
    create: ({ request }, reply) => {
      expires = Date.parse(request.labels['containerd.io/gc.expire'] ?? '');
      reply(null, { lease: { id: 'l1' } });
    },
    delete: answer({}),
  });
  const before = wallClock();
  await runtime.freeRemoved();
  t.true(expires >= before + 60_000 && expires <= wallClock() + 60_000);
});

test('another runtime is not asked', async (t) => {
  const created: unknown[] = [];
  const leases = { create: answer({ lease: { id: 'l1' } }, created) };
  const runtime = await connected(t, leases, { version: answer({ ...IDENTITY, runtimeName: 'cri-o' }) });
  t.false(await runtime.freeRemoved());
  t.deepEqual(created, []);
});

test('a containerd without leases is asked once', async (t) => {
  const asked: unknown[] = [];
  const runtime = await connected(t, {
    create: (call, reply) => {
      asked.push(call.request);
      reply({ code: status.UNIMPLEMENTED, details: 'unknown service' });
    },
  });
  t.false(await runtime.freeRemoved());
  t.false(await runtime.freeRemoved());
  t.is(asked.length, 1);
});

test('a lease that cannot be recorded is a failure, not a no', async (t) => {
  const runtime = await connected(t, { create: refuse(status.UNKNOWN, 'write meta.db: no space left on device') });
  const error = await t.throwsAsync<RuntimeError>(runtime.freeRemoved(), { name: 'RuntimeError' });
  t.is(error.kind, 'no-space');
});
