import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { memoryLimit } from '../../../src/adapters/host/memory-text.js';
import { hostNodeStats } from '../../../src/adapters/host/node-stats.js';
import { bytes } from '../../../src/units/units.js';
import { canRun, type Need, ROOT, scratch } from './real.js';

/** As a node with version 1 tells them of `kubepods`: a limit of 12 GiB, 5 GiB used, 1.5 GiB of that inactive file pages. */
const V1 = {
  'memory.limit_in_bytes': '12884901888\n',
  'memory.usage_in_bytes': '5368709120\n',
  'memory.stat': 'cache 0\nrss 0\ninactive_file 0\ntotal_cache 2147483648\ntotal_inactive_file 1610612736\n',
};
/** The same as a node with version 2 tells it of `kubepods.slice`. */
const V2 = {
  'memory.max': '12884901888\n',
  'memory.current': '5368709120\n',
  'memory.stat': 'anon 3221225472\nfile 2147483648\ninactive_anon 0\ninactive_file 1610612736\n',
};
const GIB = 1024 ** 3;
const NAMES = ['kubepods.slice', 'kubepods'];

/** A hierarchy in which one group has these files. */
function hierarchy(root: string, group: string, files: Readonly<Record<string, string>>) {
  mkdirSync(join(root, group), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, group, name), text);
  return hostNodeStats({ clock: systemClock(), cgroup: root, podsCgroups: NAMES });
}

for (const [version, group, files] of [
  ['1', 'memory/kubepods', V1],
  ['2', 'kubepods.slice', V2],
] as const) {
  test(`version ${version}: available is the limit less the working set`, async (t) => {
    const stats = hierarchy(scratch(t), group, files);
    const { podsMemory } = await stats.read();
    t.like(podsMemory, {
      kind: 'reading',
      reading: {
        capacity: bytes(12 * GIB),
        usage: bytes(5 * GIB),
        workingSet: bytes(3.5 * GIB),
        available: bytes(8.5 * GIB),
      },
    });
    t.is(await stats.memoryUsage('pods'), bytes(5 * GIB));
  });

  test(`version ${version}: more used than the limit is nothing available`, async (t) => {
    const limit = Object.fromEntries(Object.keys(files).map((name) => [name, '1048576\n']));
    const stats = hierarchy(scratch(t), group, {
      ...limit,
      ...files,
      'memory.limit_in_bytes': '4096\n',
      'memory.max': '4096\n',
    });
    t.like(await stats.read(), { podsMemory: { kind: 'reading', reading: { available: bytes(0) } } });
  });

  test(`version ${version}: a group that nobody limits tells nothing, and why`, async (t) => {
    const stats = hierarchy(scratch(t), group, {
      ...files,
      'memory.limit_in_bytes': '9223372036854771712\n',
      'memory.max': 'max\n',
    });
    t.like(await stats.read(), {
      podsMemory: { kind: 'absent', why: 'the cgroup kubepods.slice or kubepods has no memory limit' },
    });
  });

  test(`version ${version}: a group that is there and cannot be read is a failure`, async (t) => {
    const stats = hierarchy(scratch(t), group, { ...files, 'memory.stat': 'nothing\n' });
    const { podsMemory } = await stats.read();
    t.is(podsMemory.kind, 'failed');
    t.regex(podsMemory.kind === 'failed' ? podsMemory.why : '', /^the cgroup kubepods.*inactive_file/);
  });
}

test('a node without such a group says where it was looked for', async (t) => {
  const root = scratch(t);
  const stats = hierarchy(root, 'kubelet', V1);
  t.deepEqual((await stats.read()).podsMemory, {
    kind: 'absent',
    why: `there is no cgroup kubepods.slice or kubepods below ${root}`,
  });
  await t.throwsAsync(stats.memoryUsage('pods'), { name: 'PortError', message: /kubepods\.slice, kubepods$/ });
});

test('a limit is a number, none, or a text that is refused by the name of its file', (t) => {
  t.is(memoryLimit('4096\n', 'memory.max'), bytes(4096));
  t.is(memoryLimit('max\n', 'memory.max'), null);
  t.is(memoryLimit('9223372036854771712\n', 'memory.limit_in_bytes'), null);
  t.is(memoryLimit('18446744073709551615\n', 'memory.limit_in_bytes'), null);
  t.throws(() => memoryLimit('lots', 'memory.max'), { message: /memory\.max.*"lots"/ });
});

const GROUPS = '/sys/fs/cgroup/memory';
const V1_HERE: Need = [
  'a memory hierarchy of version 1 in which groups can be made',
  () => {
    const probe = join(GROUPS, `reclaimd-probe-${process.pid}`);
    try {
      mkdirSync(probe);
      rmdirSync(probe);
      return true;
    } catch {
      return false;
    }
  },
];

test("this machine's own kernel tells the limit and the use of a group", async (t) => {
  if (!canRun(t, ROOT, V1_HERE)) return;
  const name = `reclaimd-test-${process.pid}`;
  const group = join(GROUPS, name);
  mkdirSync(group);
  t.teardown(() => rmdirSync(group));
  const stats = hostNodeStats({ clock: systemClock(), podsCgroups: [name] });
  t.like(await stats.read(), { podsMemory: { kind: 'absent' } }, 'it has no limit yet');
  writeFileSync(join(group, 'memory.limit_in_bytes'), `${64 << 20}`);
  const { podsMemory } = await stats.read();
  t.like(podsMemory, { kind: 'reading', reading: { capacity: bytes(64 << 20), available: bytes(64 << 20) } });
  t.is(readFileSync(join(group, 'memory.usage_in_bytes'), 'utf8'), '0\n');
  t.is(await stats.memoryUsage('pods'), bytes(0));
});

test("the node's usage alone is the one that its reading has, as near as two readings are", async (t) => {
  const stats = hostNodeStats({ clock: systemClock() });
  const { memory } = await stats.read();
  const usage = await stats.memoryUsage('node');
  t.true(Math.abs(usage - (memory?.usage ?? 0)) < 256 << 20, `${usage} and ${memory?.usage}`);
});
