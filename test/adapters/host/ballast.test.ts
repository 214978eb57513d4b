import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { BALLAST_NAME, hostBallast } from '../../../src/adapters/host/ballast.js';
import { PortError } from '../../../src/ports/port-error.js';
import { bytes } from '../../../src/units/units.js';

const MIB = 1024 * 1024;
const SELF = { pid: process.pid, startedAt: '2026-01-01T00:00:00Z', version: '0' };

function scene(t: ExecutionContext) {
  const directory = mkdtempSync(join(tmpdir(), 'ballast-'));
  const ballast = hostBallast(SELF);
  t.teardown(async () => {
    await ballast[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  return { ballast, directory, path: join(directory, BALLAST_NAME) };
}

test('what is laid is really allocated, belongs to us alone, and cannot be compressed', async (t) => {
  const { ballast, directory, path } = scene(t);
  t.is(Number(await ballast.held(directory)), 0);
  t.true((await ballast.resize(directory, bytes(3 * MIB))) >= 3 * MIB);
  const stat = statSync(path);
  t.is(stat.mode & 0o777, 0o600);
  t.true(stat.blocks * 512 >= 3 * MIB, `${stat.blocks} blocks`);
  t.true(gzipSync(readFileSync(path)).length > 2.9 * MIB);
  t.true((await ballast.held(directory)) >= 3 * MIB);
});

test('it grows by what is missing, and shrinks', async (t) => {
  const { ballast, directory, path } = scene(t);
  await ballast.resize(directory, bytes(MIB + 5));
  const begin = readFileSync(path);
  await ballast.resize(directory, bytes(3 * MIB));
  t.is(statSync(path).size, 3 * MIB);
  t.deepEqual(readFileSync(path).subarray(0, begin.length), begin);
  await ballast.resize(directory, bytes(MIB));
  t.is(statSync(path).size, MIB);
});

test('a release gives all of it back, and says how much that was', async (t) => {
  const { ballast, directory, path } = scene(t);
  await ballast.resize(directory, bytes(2 * MIB));
  t.true((await ballast.release(directory)) >= 2 * MIB);
  t.false(existsSync(path));
  t.is(Number(await ballast.release(directory)), 0);
});

test('what an earlier process has left is taken over; one that lives keeps others out', async (t) => {
  const { ballast, directory, path } = scene(t);
  const earlier = hostBallast(SELF);
  await earlier.resize(directory, bytes(2 * MIB));
  await t.throwsAsync(ballast.release(directory), { instanceOf: PortError, message: /looks after it/ });
  t.true(existsSync(path));
  await earlier[Symbol.asyncDispose]();
  t.true((await ballast.held(directory)) >= 2 * MIB);
  t.true((await ballast.release(directory)) >= 2 * MIB);
});

test('a mode that others could read by is put right', async (t) => {
  const { ballast, directory, path } = scene(t);
  await ballast.resize(directory, bytes(MIB));
  chmodSync(path, 0o644);
  await ballast.held(directory);
  t.is(statSync(path).mode & 0o777, 0o600);
});

test('a hole is no ballast: where blocks are missing the file is made anew', async (t) => {
  const { ballast, directory, path } = scene(t);
  await ballast.resize(directory, bytes(MIB));
  truncateSync(path, 4 * MIB);
  t.true((await ballast.held(directory)) < 2 * MIB);
  t.true((await ballast.resize(directory, bytes(4 * MIB))) >= 4 * MIB);
});

const foreign: Readonly<Record<string, (path: string) => void>> = {
  'a symbolic link': (path) => {
    writeFileSync(`${path}-target`, 'precious');
    symlinkSync(`${path}-target`, path);
  },
  'somebody else\u2019s content': (path) => writeFileSync(path, 'precious'),
  'a directory': (path) => mkdirSync(path),
  'a file with a second name': (path) => {
    writeFileSync(`${path}-other`, '');
    linkSync(`${path}-other`, path);
  },
};

for (const [what, put] of Object.entries(foreign)) {
  test(`${what} in its place is left alone`, async (t) => {
    const { ballast, directory, path } = scene(t);
    put(path);
    const before = existsSync(`${path}-target`) ? readFileSync(`${path}-target`, 'utf8') : statSync(path).size;
    for (const call of [ballast.held(directory), ballast.resize(directory, bytes(MIB)), ballast.release(directory)]) {
      await t.throwsAsync(call, { instanceOf: PortError, message: /Cannot keep ballast as/ });
    }
    t.is(existsSync(`${path}-target`) ? readFileSync(`${path}-target`, 'utf8') : statSync(path).size, before);
  });
}

test('a directory must be named by an absolute path', async (t) => {
  const { ballast } = scene(t);
  await t.throwsAsync(ballast.held('relative'), { instanceOf: PortError, message: /absolute/ });
});
