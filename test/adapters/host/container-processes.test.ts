import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { hostContainerProcesses } from '../../../src/adapters/host/container-processes.js';
import { canRun, type Need, ROOT, until } from './real.js';

const MIB = 1024 * 1024;
/** A hierarchy of control groups in which a group can be made: any of v1, or that of v2. */
const HIERARCHY = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((path) =>
  existsSync(join(path, 'cgroup.procs')),
);
const GROUPS: Need = ['a hierarchy of control groups to make a group in', () => HIERARCHY !== undefined];

/** Writes so much and deletes it, keeps it open, and waits; then the same again whenever it reads a line. */
const WRITER = `
const fs = require('node:fs');
const write = (mib) => { for (let n = 0; n < mib; n += 1) fs.writeSync(file, Buffer.alloc(${MIB}, 1)); console.log('done'); };
const file = fs.openSync(process.argv[1], 'w');
fs.unlinkSync(process.argv[1]);
process.stdin.on('data', (text) => write(Number(text)));
console.log('up');
`;

/** A process in a control group that is named as a container's is. */
async function container(
  t: ExecutionContext,
  id: string,
  path: string,
): Promise<{ write(mib: number): Promise<void> }> {
  const group = join(HIERARCHY ?? '', `reclaimd-test-${process.pid}-${id}`);
  mkdirSync(group);
  const child: ChildProcess = spawn(process.execPath, ['-e', WRITER, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await until(() => {
      try {
        rmdirSync(group);
        return true;
      } catch {
        return false;
      }
    });
  });
  writeFileSync(join(group, 'cgroup.procs'), String(child.pid));
  const line = () => new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
  await line();
  return {
    async write(mib) {
      const done = line();
      child.stdin?.write(String(mib));
      await done;
    },
  };
}

test('what a real process writes shows at once, and its deleted file counts with the blocks it has', async (t) => {
  if (!canRun(t, ROOT, GROUPS)) return;
  const id = `${process.pid}`.padStart(64, 'c').replaceAll(/[^0-9a-f]/g, '0');
  // Not in the temporary directory, which may be in memory, where nothing counts as written.
  const directory = mkdtempSync(fileURLToPath(new URL('held-', import.meta.url)));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const writer = await container(t, id, join(directory, 'held'));
  await using processes = hostContainerProcesses({ clock: systemClock() });
  const before = (await processes.read()).counts.get(id)?.processes ?? 0;
  await writer.write(8);
  const after = (await processes.read()).counts.get(id)?.processes ?? 0;
  t.is(after - before, 8 * MIB);
  const seen = (await processes.look([id, 'd'.repeat(64)])).get(id);
  const { dev } = statSync(directory);
  const device = `${(dev >> 8) & 0xfff}:${dev & 0xff}`;
  t.deepEqual([...(seen?.deletedOpen ?? [])], [[device, { bytes: 8 * MIB, inodes: 1 }]]);
  t.is(seen?.layerDirectory, null, 'it has our own root');
  t.true(seen?.isComplete);
});

test('a closed adapter refuses', async (t) => {
  const processes = hostContainerProcesses({ clock: systemClock() });
  await processes[Symbol.asyncDispose]();
  await t.throwsAsync(processes.read(), { name: 'PortError', message: /must be open/ });
});
