import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { acquireInstanceLock } from '../../../src/adapters/host/instance-lock.js';
import { scratch } from './real.js';

const CHILD = fileURLToPath(new URL('./lock-child.js', import.meta.url));
const SELF = { pid: process.pid, startedAt: '2026-02-02T00:00:00Z', version: '9.9.9' };

async function holder(t: ExecutionContext, path: string): Promise<{ child: ChildProcess; said: unknown }> {
  const child = spawn(process.execPath, [CHILD, path, 'hold'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]; // readline gives strings
  return { child, said: JSON.parse(line) };
}

test('a second daemon learns who the first is, and gets the lock as soon as that is killed', async (t) => {
  const path = join(scratch(t), 'runtime.sock');
  const { child, said } = await holder(t, path);
  t.deepEqual(said, { kind: 'acquired' });
  t.deepEqual(await acquireInstanceLock(path, SELF), {
    kind: 'held',
    by: { pid: child.pid ?? 0, startedAt: '2026-01-01T00:00:00Z', version: '1.2.3' },
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = await acquireInstanceLock(path, SELF);
  t.is(lock.kind, 'acquired');
  if (lock.kind === 'acquired') await lock.release();
});

test('a holder that is stopped still holds, without a name', async (t) => {
  const path = join(scratch(t), 'runtime.sock');
  const { child } = await holder(t, path);
  child.kill('SIGSTOP');
  t.deepEqual(await acquireInstanceLock(path, SELF), { kind: 'held', by: null });
});

test('runtimes have locks of their own, and all names of one runtime have the same', async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, 'run'));
  symlinkSync('run', join(directory, 'var-run'));
  const [one, other] = [join(directory, 'run/one.sock'), join(directory, 'run/other.sock')];
  const first = await acquireInstanceLock(one, SELF);
  const second = await acquireInstanceLock(other, SELF);
  t.deepEqual([first.kind, second.kind], ['acquired', 'acquired']);
  t.like(await acquireInstanceLock(join(directory, 'var-run/one.sock'), SELF), { kind: 'held', by: SELF });
  writeFileSync(one, '');
  t.is((await acquireInstanceLock(one, SELF)).kind, 'held', 'also when the socket appears later');
  for (const lock of [first, second]) if (lock.kind === 'acquired') await lock.release();
  const again = await acquireInstanceLock(one, SELF);
  t.is(again.kind, 'acquired', 'released');
  if (again.kind === 'acquired') await again.release();
});

test('the lock does not keep its process alive', async (t) => {
  const child = spawn(process.execPath, [CHILD, join(scratch(t), 'runtime.sock')], { stdio: 'ignore' });
  t.deepEqual(await once(child, 'exit'), [0, null]);
});
