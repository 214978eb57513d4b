import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { type LogDestination, logDestination } from '../../../src/adapters/log/destination.js';
import { createLogger } from '../../../src/adapters/log/logger.js';
import { canRun, MOUNTING, program, ROOT, run, scratch, until } from '../host/real.js';

const CHILD = fileURLToPath(new URL('./log-child.js', import.meta.url));
const lines = (text: string) => text.split('\n').slice(0, -1);
const lostLine = (lost: number) => `lost ${lost}\n`;

/** A disk with so many bytes of room; writes what fits, as write(2) does, and then fails. */
function fakeDisk() {
  let text = '';
  const disk = {
    room: 0,
    text: () => text,
    writeTo: (_: number, data: Uint8Array, offset: number) => {
      const taken = Math.min(disk.room, data.length - offset);
      if (taken === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      text += Buffer.from(data.subarray(offset, offset + taken)).toString();
      disk.room -= taken;
      return taken;
    },
  };
  return disk;
}

const onDisk = (disk: ReturnType<typeof fakeDisk>, maxWaiting: number): LogDestination =>
  logDestination({ target: { path: '/dev/null' }, maxWaiting, retryMs: 1e9, lostLine, writeTo: disk.writeTo });

test('what found no room follows when there is some, each line once and whole', (t) => {
  const disk = fakeDisk();
  using destination = onDisk(disk, 1_000);
  disk.room = 7;
  for (const line of ['one\n', 'two, torn\n', 'three\n']) destination.write(line);
  t.is(disk.text(), 'one\ntwo');
  t.deepEqual(destination.state(), { lost: 0, waiting: 13 });
  disk.room = 1_000;
  destination.write('four\n');
  t.is(disk.text(), 'one\ntwo, torn\nthree\nfour\n');
  t.deepEqual(destination.state(), { lost: 0, waiting: 0 });
});

test('when too much waits the oldest go, are counted, and the count stands where they would have stood', (t) => {
  const disk = fakeDisk();
  using destination = onDisk(disk, 40);
  disk.room = 2;
  for (let number = 0; number < 100; number += 1) destination.write(`line ${number + 100}\n`);
  t.true(destination.state().waiting <= 40 + 'line 100\n'.length);
  const { lost } = destination.state();
  disk.room = 1_000;
  destination.write('end\n');
  const written = lines(disk.text());
  t.deepEqual(written.slice(0, 2), ['line 100', `lost ${lost}`], 'the torn line is completed first');
  t.deepEqual(written.slice(-2), ['line 199', 'end']);
  t.is(written.length - 1 + lost, 101, 'every line is written or counted');
  t.is(destination.state().lost, lost);
});

test('losses are counted again after each time that they were said', (t) => {
  const disk = fakeDisk();
  using destination = onDisk(disk, 10);
  for (const round of [1, 2]) {
    for (let number = 0; number < 5; number += 1) destination.write('12345678\n');
    disk.room = 100;
    destination.write('ok\n');
    disk.room = 0;
    t.is(lines(disk.text()).filter((line) => line.startsWith('lost')).length, round);
  }
  const said = lines(disk.text()).map((line) => Number(/^lost (\d+)$/.exec(line)?.[1] ?? 0));
  t.is(
    said.reduce((sum, lost) => sum + lost, 0),
    destination.state().lost,
  );
});

test('a line larger than all that may wait is lost when it would have to, and written when not', (t) => {
  const disk = fakeDisk();
  using destination = onDisk(disk, 10);
  destination.write(`${'x'.repeat(100)}\n`);
  t.deepEqual(destination.state(), { lost: 1, waiting: 0 });
  disk.room = 1_000;
  destination.write(`${'y'.repeat(100)}\n`);
  t.deepEqual(lines(disk.text()), ['lost 1', 'y'.repeat(100)]);
});

test('a file that was renamed is left for a new one of its name', (t) => {
  const path = join(scratch(t), 'log');
  using destination = logDestination({ target: { path } });
  destination.write('old\n');
  renameSync(path, `${path}.1`);
  destination.write('old still\n');
  t.is(destination.reopen(), null);
  destination.write('new\n');
  t.is(readFileSync(`${path}.1`, 'utf8'), 'old\nold still\n');
  t.is(readFileSync(path, 'utf8'), 'new\n');
});

test('when the new file cannot be opened the old one is kept, and that is said', (t) => {
  const directory = join(scratch(t), 'logs');
  mkdirSync(directory);
  using destination = logDestination({ target: { path: join(directory, 'log') } });
  renameSync(directory, `${directory}.old`);
  t.regex(destination.reopen()?.message ?? '', /Cannot log to/);
  destination.write('kept\n');
  t.is(readFileSync(join(`${directory}.old`, 'log'), 'utf8'), 'kept\n');
});

test('a file that cannot be opened at the start is a mistake that is thrown', (t) => {
  t.throws(() => logDestination({ target: { path: join(scratch(t), 'none/log') } }), { name: 'PortError' });
});

test('the logger writes one object a line with a level and a date that need no table', async (t) => {
  const path = join(scratch(t), 'log');
  using destination = logDestination({ target: { path } });
  const logger = await createLogger({ level: 'info', format: 'auto', destination });
  logger.debug('not asked for');
  logger.info({ freed: 5 }, 'reclaimed');
  const [line, ...more] = lines(readFileSync(path, 'utf8'));
  t.is(more.length, 0);
  const entry = JSON.parse(line ?? '') as Record<string, unknown>; // a line of pino is an object
  t.like(entry, { level: 'info', freed: 5, msg: 'reclaimed' });
  t.regex(String(entry['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.deepEqual(Object.keys(entry).sort(), ['freed', 'level', 'msg', 'time']);
});

test('pretty lines are for people and are written before the call returns', async (t) => {
  const path = join(scratch(t), 'log');
  using destination = logDestination({ target: { path } });
  const logger = await createLogger({ level: 'info', format: 'pretty', destination });
  logger.warn({ freed: 5 }, 'reclaimed');
  t.regex(readFileSync(path, 'utf8'), /^\[.*\] WARN: reclaimed \{"freed":5\}\n$/);
});

test('a log on a disk that fills throws nothing, stays small, and is whole again when there is room', async (t) => {
  if (!canRun(t, ROOT, MOUNTING)) return;
  const point = scratch(t);
  run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', point);
  t.teardown(() => run('umount', '-l', point));
  const path = join(point, 'log');
  const destination = logDestination({ target: { path }, maxWaiting: 64 * 1024, retryMs: 5 });
  const logger = await createLogger({ level: 'info', format: 'json', destination });
  const log = (from: number, to: number) => {
    for (let number = from; number < to; number += 1) logger.info({ number, pad: 'x'.repeat(100) }, 'line');
  };
  t.notThrows(() => log(0, 20_000));
  const full = destination.state();
  t.true(full.waiting > 0 && full.waiting <= 64 * 1024 + 1_000);
  t.true(full.lost > 0);
  run('mount', '-o', 'remount,size=16m', point);
  await until(() => destination.state().waiting === 0);
  log(20_000, 20_100);
  destination[Symbol.dispose]();
  // Each line parses: none is torn, since the half line was completed.
  const written = lines(readFileSync(path, 'utf8')).map(
    (line) => JSON.parse(line) as { number?: number; lost?: number },
  );
  const numbers = written.flatMap(({ number }) => number ?? []);
  t.deepEqual(
    numbers.slice(-101),
    Array.from({ length: 101 }, (_, index) => 19_999 + index),
  );
  t.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  );
  t.is(new Set(numbers).size, numbers.length);
  t.is(
    written.reduce((sum, { lost = 0 }) => sum + lost, 0),
    destination.state().lost,
  );
  t.is(numbers.length + destination.state().lost, 20_100);
});

test('a process ends while its log disk is full', async (t) => {
  if (!canRun(t, ROOT, MOUNTING)) return;
  const point = scratch(t);
  run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', point);
  t.teardown(() => run('umount', '-l', point));
  const child = spawn(process.execPath, [CHILD, '5000', join(point, 'log')], { stdio: ['pipe', 'ignore', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [said] = (await once(createInterface({ input: child.stderr }), 'line')) as [string]; // readline gives strings
  t.true((JSON.parse(said) as { lost: number }).lost > 0);
  child.stdin.end();
  t.deepEqual(await once(child, 'exit'), [0, null]);
});

/** Starts the child with a reader that takes nothing until `wake` is called. */
const READERS: readonly (readonly [string, readonly string[]])[] = [
  ['a socket', [process.execPath, CHILD, '5000']],
  // A shell's pipe is a real one, where libuv makes sockets. `read` holds the reader back until the fifo is written to.
  ['a pipe', ['sh', '-c', `"$0" "$1" 5000 | { read -r _ < "$FIFO"; cat; }`, process.execPath, CHILD]],
];
for (const [kind, [command = '', ...args]] of READERS) {
  test(`${kind} whose reader is slow holds nobody up and loses only what is counted`, async (t) => {
    if (!canRun(t, program('mkfifo'))) return;
    const fifo = join(scratch(t), 'fifo');
    run('mkfifo', fifo);
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, FIFO: fifo } });
    t.teardown(() => child.kill('SIGKILL'));
    let text = '';
    const [said] = (await once(createInterface({ input: child.stderr }), 'line')) as [string]; // readline gives strings
    const state = JSON.parse(said) as { took: number; lost: number; waiting: number }; // the child's own words
    t.true(state.lost > 0 && state.waiting <= 64 * 1024 + 1_000, said);
    t.true(state.took < 2_000, `5000 lines took ${state.took} ms`);
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    if (kind === 'a pipe') writeFileSync(fifo, 'go\n');
    await until(() => text.includes('"number":4999,') && text.endsWith('\n'));
    child.stdin.end();
    await once(child, 'exit');
    const entries = lines(text).map((line) => JSON.parse(line) as { number?: number; lost?: number });
    const numbers = entries.flatMap(({ number }) => number ?? []);
    t.is(numbers.length + entries.reduce((sum, { lost = 0 }) => sum + lost, 0), 5_000);
  });
}

test('a reader that went away is no error', (t) => {
  const path = join(scratch(t), 'log');
  const fd = openSync(path, 'w');
  rmSync(path);
  writeSync(fd, '');
  using destination = logDestination({
    target: { fd },
    writeTo: () => {
      throw Object.assign(new Error('broken pipe'), { code: 'EPIPE' });
    },
  });
  closeSync(fd);
  t.notThrows(() => destination.write('line\n'));
});
