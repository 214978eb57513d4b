import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { loneNumber, memoryStat, parseMemInfo, taskCount, workingSet } from '../../../src/adapters/host/memory-text.js';
import { hostNodeStats } from '../../../src/adapters/host/node-stats.js';
import { bytes, count } from '../../../src/units/units.js';
import { scratch } from './real.js';

const MEMINFO = `\
MemTotal:       24684092 kB
MemFree:        24313372 kB
MemAvailable:   24307332 kB
Buffers:            2172 kB
Cached:           110432 kB
SwapCached:          100 kB
Active:            53764 kB
Inactive:          58928 kB
Active(anon):       1028 kB
Inactive(anon):     7820 kB
Active(file):      52736 kB
Inactive(file):    51108 kB
AnonPages:         16200 kB
HugePages_Total:       0
`;
const V1_STAT = 'cache 9211904\ninactive_file 135168\ntotal_cache 115433472\ntotal_inactive_file 52264960\n';
const V2_STAT = 'anon 16588800\nfile 115433472\nkernel 20480000\ninactive_file 52264960\nactive_file 54001664\n';
const KIB = 1024;

/** A procfs with the files that are given, and no cgroups beside it. */
function procfs(directory: string, files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return hostNodeStats({ clock: systemClock(), proc: directory, cgroup: join(directory, 'no-cgroups') });
}

const WHOLE = {
  meminfo: MEMINFO,
  'sys/kernel/pid_max': '32768\n',
  'sys/kernel/threads-max': '192730\n',
  loadavg: '0.01 0.43 0.32 1/86 9682\n',
};

test('meminfo is read in bytes, and file pages include buffers and swap cache', (t) => {
  t.deepEqual(parseMemInfo(MEMINFO) as unknown, {
    total: 24_684_092 * KIB,
    inactiveFile: 51_108 * KIB,
    usage: (16_200 + 110_432 + 2_172 + 100) * KIB,
  });
});

test('texts that are not what they should be are refused by name', (t) => {
  t.throws(() => parseMemInfo(''), { message: /MemTotal/ });
  t.throws(() => parseMemInfo(MEMINFO.replace('24684092', '0')), { message: /MemTotal must be positive/ });
  t.throws(() => parseMemInfo(MEMINFO.replace('51108 kB', '51108 MB')), { message: /Inactive\(file\)/ });
  t.throws(() => memoryStat(V2_STAT, 'total_inactive_file'), { message: /total_inactive_file/ });
  t.throws(() => loneNumber('max\n', 'memory.usage_in_bytes'), { message: /memory\.usage_in_bytes.*"max"/ });
  t.throws(() => taskCount('0.01 0.43 0.32\n'), { message: /loadavg/ });
});

test('a name in memory.stat is not mistaken for the end of another', (t) => {
  t.is(memoryStat(V1_STAT, 'inactive_file'), bytes(135_168));
  t.is(memoryStat(V1_STAT, 'total_inactive_file'), bytes(52_264_960));
});

test('the working set is never negative', (t) => {
  t.is(workingSet(bytes(10), bytes(20)), bytes(0));
});

test('tasks are all threads that exist, not those that run', (t) => {
  t.is(taskCount('0.01 0.43 0.32 1/86 9682\n'), count(86));
});

test('where no root cgroup can be seen the node counts from its page counters', async (t) => {
  const { memory, pids, problems } = await procfs(scratch(t), WHOLE).read();
  t.deepEqual(problems, []);
  const used = 16_200 + 110_432 + 2_172 + 100 - 51_108;
  t.like(memory, { capacity: bytes(24_684_092 * KIB), available: bytes((24_684_092 - used) * KIB) });
  t.like(pids, { available: 32_768 - 86 });
});

test('a cgroup that is not the root of its hierarchy is not taken for the node', async (t) => {
  const directory = scratch(t);
  const stats = procfs(directory, WHOLE);
  const plain = await stats.read();
  // What a container with a cgroup namespace of its own sees.
  mkdirSync(join(directory, 'no-cgroups/memory'), { recursive: true });
  writeFileSync(join(directory, 'no-cgroups/memory/memory.usage_in_bytes'), '4096\n');
  writeFileSync(join(directory, 'no-cgroups/memory/memory.stat'), V1_STAT);
  writeFileSync(join(directory, 'no-cgroups/memory.stat'), V2_STAT);
  t.is((await stats.read()).memory?.available, plain.memory?.available);
});

test('one part that cannot be read leaves the other, and says why', async (t) => {
  const directory = scratch(t);
  const stats = procfs(directory, WHOLE);
  rmSync(join(directory, 'meminfo'));
  const { memory, pids, problems } = await stats.read();
  t.is(memory, null);
  t.not(pids, null);
  t.is(problems.length, 1);
  t.regex(problems[0] ?? '', /^memory: .*ENOENT.*meminfo/);
});

test('more tasks than allowed is a negative number and no error', async (t) => {
  const { pids } = await procfs(scratch(t), { ...WHOLE, 'sys/kernel/pid_max': '80\n' }).read();
  t.like(pids, { available: -6 });
});

test('a kubelet is found by the name of its command among many', async (t) => {
  const directory = scratch(t);
  const others = Object.fromEntries(Array.from({ length: 300 }, (_, pid) => [`${pid + 1}/comm`, 'kubelet-helper\n']));
  const stats = procfs(directory, { ...others, 'self/comm': 'kubelet\n', 'sys/x': '' });
  t.false(await stats.kubeletRuns(), 'neither a longer name nor what is no process');
  writeFileSync(join(directory, '299/comm'), 'kubelet\n');
  t.true(await stats.kubeletRuns());
  rmSync(join(directory, '7/comm'));
  t.true(await stats.kubeletRuns(), 'a process that ended meanwhile is passed over');
});

test('a procfs that cannot be listed is no answer', async (t) => {
  const stats = hostNodeStats({ clock: systemClock(), proc: join(scratch(t), 'none') });
  await t.throwsAsync(stats.kubeletRuns(), { name: 'PortError' });
});

test('this machine gives plausible numbers', async (t) => {
  const { memory, pids, problems } = await hostNodeStats({ clock: systemClock() }).read();
  t.deepEqual(problems, []);
  t.true(memory !== null && memory.available > 0 && memory.available < memory.capacity);
  t.true(pids !== null && pids.available > 0 && pids.available < pids.capacity);
});
