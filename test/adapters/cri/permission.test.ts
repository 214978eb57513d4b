import { chmod, mkdir } from 'node:fs/promises';
import test from 'ava';
import { connectRuntime } from '../../../src/adapters/cri/client.js';
import type { RuntimeError } from '../../../src/ports/runtime.js';
import { serveRuntime, socketDirectory } from './fake-runtime.js';
import { wallClock } from './wall-clock.js';

// In a file, and so a process, of its own: it changes who the process is.
test('a socket that this user may not write to says so', async (t) => {
  const directory = await socketDirectory(t);
  await mkdir(`${directory}/locked`);
  const fake = await serveRuntime(`${directory}/locked/r.sock`);
  t.teardown(async () => {
    await chmod(`${directory}/locked`, 0o700);
    await fake.kill();
  });
  // Permissions do not bind root, so that a test run by root has to become somebody else (65534 is nobody).
  await chmod(`${directory}/locked`, 0o000);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await using runtime = connectRuntime({ endpoint: fake.endpoint, now: wallClock });
    const error = await t.throwsAsync<RuntimeError>(runtime.identify(), { name: 'RuntimeError' });
    t.is(error?.kind, 'permission-denied');
    t.regex(
      error?.message ?? '',
      /^Cannot call Version as this user must be allowed to write to the runtime socket .*: unix:/,
    );
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});
