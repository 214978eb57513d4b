import { execFile, execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { connectRuntime } from '../../../src/adapters/cri/client.js';
import type { RuntimeError } from '../../../src/ports/runtime.js';
import { milliseconds } from '../../../src/units/units.js';
import { serveRuntime, socketDirectory } from './fake-runtime.js';
import { wallClock } from './wall-clock.js';

interface Outcome {
  readonly error: RuntimeError;
  readonly tookMs: number;
}

async function reach(t: ExecutionContext, path: string, timeoutMs = 20_000): Promise<Outcome> {
  await using runtime = connectRuntime({ endpoint: path, now: wallClock, requestTimeout: milliseconds(timeoutMs) });
  const begun = performance.now();
  const error = await t.throwsAsync<RuntimeError>(runtime.identify(), { name: 'RuntimeError' });
  t.true(error.message.includes(`unix://${path}`), error.message);
  return { error, tookMs: performance.now() - begun };
}

async function listening(t: ExecutionContext, server: Server, path: string): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

test('a missing socket is said at once, not after a deadline', async (t) => {
  const { error, tookMs } = await reach(t, `${await socketDirectory(t)}/none.sock`);
  t.is(error.kind, 'unavailable');
  t.regex(error.message, /^Cannot call Version as there is no runtime socket: /);
  t.true(tookMs < 5000, `${tookMs} ms`);
});

test('a socket that nobody listens on any more', async (t) => {
  const path = `${await socketDirectory(t)}/stale.sock`;
  // A process that dies leaves its socket file behind, which node's own server would not.
  const leave = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  t.throws(() => execFileSync(process.execPath, ['-e', leave]));
  const { error } = await reach(t, path);
  t.is(error.kind, 'unavailable');
  t.regex(error.message, /nobody listens there/);
});

test('a plain file', async (t) => {
  const path = `${await socketDirectory(t)}/file`;
  await writeFile(path, '');
  t.regex((await reach(t, path)).error.message, /the path is no stream socket/);
});

test('a directory', async (t) => {
  const path = `${await socketDirectory(t)}/directory`;
  await mkdir(path);
  t.regex((await reach(t, path)).error.message, /the path is no stream socket/);
});

test('a plain HTTP server', async (t) => {
  const path = `${await socketDirectory(t)}/http.sock`;
  await listening(
    t,
    createHttp((_request, response) => response.end('hello')),
    path,
  );
  const { error } = await reach(t, path);
  t.is(error.kind, 'unimplemented');
  t.regex(error.message, /must speak CRI v1 over gRPC/);
});

test('an HTTP/2 server that is not gRPC', async (t) => {
  const directory = await socketDirectory(t);
  await listening(
    t,
    createHttp2((_request, response) => response.writeHead(404).end()),
    `${directory}/a.sock`,
  );
  const missing = await reach(t, `${directory}/a.sock`);
  t.is(missing.error.kind, 'unimplemented');
  t.regex(missing.error.message, /must speak CRI v1 over gRPC/);
  await listening(
    t,
    createHttp2((_request, response) => response.end('fine')),
    `${directory}/b.sock`,
  );
  t.regex((await reach(t, `${directory}/b.sock`)).error.message, /must speak CRI v1 over gRPC/);
});

test('a server that closes each connection', async (t) => {
  const path = `${await socketDirectory(t)}/closes.sock`;
  await listening(
    t,
    createServer((socket) => socket.destroy()),
    path,
  );
  t.is((await reach(t, path)).error.kind, 'unavailable');
});

test('a server that accepts and says nothing is given up at the deadline', async (t) => {
  const path = `${await socketDirectory(t)}/mute.sock`;
  await listening(
    t,
    createServer((socket) => socket.resume()),
    path,
  );
  const { error } = await reach(t, path, 1000);
  t.is(error.kind, 'deadline');
  t.regex(error.message, /did not speak gRPC in time/);
});

test('a gRPC server without CRI', async (t) => {
  const path = `${await socketDirectory(t)}/other.sock`;
  const server = new GrpcServer();
  await new Promise<void>((resolve) =>
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), () => resolve()),
  );
  t.teardown(() => server.forceShutdown());
  t.is((await reach(t, path)).error.kind, 'unimplemented');
});

test('a runtime that is killed and comes back answers the first call after its return', async (t) => {
  const path = `${await socketDirectory(t)}/r.sock`;
  let fake = await serveRuntime(path);
  t.teardown(() => fake.kill());
  await using runtime = connectRuntime({ endpoint: path, now: wallClock });
  await runtime.identify();
  for (let round = 0; round < 5; round += 1) {
    await fake.kill();
    // Enough failures for any backoff to have grown to its largest.
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const error = await t.throwsAsync<RuntimeError>(runtime.identify(), { name: 'RuntimeError' });
      t.is(error?.kind, 'unavailable');
    }
    fake = await serveRuntime(path);
    const begun = performance.now();
    await runtime.identify();
    t.log(`answered ${(performance.now() - begun).toFixed(1)} ms after the return`);
  }
});

test('a call under way when the runtime is killed ends as unavailable, and the next one works', async (t) => {
  const path = `${await socketDirectory(t)}/r.sock`;
  let started: () => void = () => undefined;
  const underWay = new Promise<void>((resolve) => {
    started = resolve;
  });
  const first = await serveRuntime(path, { removeContainer: () => started() });
  await using runtime = connectRuntime({ endpoint: path, now: wallClock });
  const call = t.throwsAsync<RuntimeError>(runtime.removeContainer('c1'), { name: 'RuntimeError' });
  await underWay;
  await first.kill();
  t.is((await call)?.kind, 'unavailable');
  const second = await serveRuntime(path);
  t.teardown(() => second.kill());
  t.is((await runtime.identify()).name, 'containerd');
});

test('many calls at once after the return all work', async (t) => {
  const path = `${await socketDirectory(t)}/r.sock`;
  await using runtime = connectRuntime({ endpoint: path, now: wallClock });
  await t.throwsAsync(runtime.identify());
  const fake = await serveRuntime(path);
  t.teardown(() => fake.kill());
  const answers = await Promise.all(Array.from({ length: 50 }, () => runtime.identify()));
  t.true(answers.every(({ name }) => name === 'containerd'));
});

const client = new URL('../../../src/adapters/cri/client.js', import.meta.url).href;
const ends = test.macro({
  async exec(t, statements: string) {
    const path = `${await socketDirectory(t)}/r.sock`;
    const fake = await serveRuntime(path, { getContainerEvents: () => undefined });
    t.teardown(() => fake.kill());
    const script = `
      import { connectRuntime } from ${JSON.stringify(client)};
      const runtime = connectRuntime({ endpoint: process.argv[1], now: () => Date.now() });
      ${statements}
      await runtime.close();
      process.stdout.write('closed');`;
    const output = await new Promise<string>((resolve, reject) => {
      const args = ['--input-type=module', '-e', script, path];
      execFile(process.execPath, args, { timeout: 20_000 }, (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(new Error('the process did not end well', { cause: error }));
      });
    });
    t.is(output, 'closed');
  },
  title: (title = '') => `a process ends by itself after close: ${title}`,
});
test('never used', ends, '');
test('used', ends, 'await runtime.identify();');
test(
  'with a subscription open',
  ends,
  'const events = runtime.events(new AbortController().signal)[Symbol.asyncIterator](); await events.next(); events.next().catch(() => {});',
);
