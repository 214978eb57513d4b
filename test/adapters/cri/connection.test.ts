import { rm } from 'node:fs/promises';
import test from 'ava';
import { openConnection } from '../../../src/adapters/cri/connection.js';
import { parseEndpoint } from '../../../src/adapters/cri/endpoint.js';
import { RuntimeServiceService } from '../../../src/proto/generated/cri.js';
import { milliseconds } from '../../../src/units/units.js';
import { serveRuntime, socketDirectory } from './fake-runtime.js';
import { wallClock } from './wall-clock.js';

const timeout = milliseconds(20_000);

test('a lost connection is noticed by itself, without a call that fails', async (t) => {
  const path = `${await socketDirectory(t)}/r.sock`;
  let ended: () => void = () => undefined;
  const cancelled = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const fake = await serveRuntime(path, {
    getContainerEvents: (call) => {
      call.on('cancelled', ended);
      call.write({
        containerId: 'c1',
        containerEventType: 0,
        createdAt: 0n,
        podSandboxStatus: undefined,
        containersStatuses: [],
      });
    },
  });
  const connection = openConnection(parseEndpoint(path), 1024, wallClock);
  t.teardown(() => connection.close());
  await connection.unary(RuntimeServiceService.version, { version: '' }, { timeout });
  const before = connection.generation();

  const events = connection.stream(RuntimeServiceService.getContainerEvents, {}, { timeout: null });
  await events.next();
  await events.return();
  // Leaving a stream ends its call on the other side.
  await cancelled;
  t.is(connection.generation(), before);

  const lost = connection.stream(RuntimeServiceService.getContainerEvents, {}, { timeout: null });
  await lost.next();
  const end = t.throwsAsync(lost.next());
  await fake.kill();
  await rm(path, { force: true });
  await end;
  t.true(connection.generation() > before);
});
