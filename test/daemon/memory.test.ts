import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { systemClock } from '../../src/adapters/host/clock.js';
import { bytes, instant } from '../../src/units/units.js';
import { canRun, type Need, ROOT, until } from '../adapters/host/real.js';
import { FakeNodeStats } from '../fakes/fake-node-stats.js';
import { openNode, startDaemon } from './daemon-scene.js';

const MIB = 1 << 20;
const LINES = '--eviction-hard=nodefs.available<1Mi,memory.available<100Mi';

test.serial('with kernelMemcgNotification a memory line is answered at once and not at the next pass', async (t) => {
  const node = await openNode(t);
  const clock = systemClock();
  const nodeStats = new FakeNodeStats(() => clock.now());
  const daemon = startDaemon(t, node, [LINES, '--profile=kubelet', '--kernel-memcg-notification'], {
    clock,
    nodeStats,
  });
  await daemon.event((event) => event.kind === 'notifiers-updated');
  t.like(
    daemon.lines.find((each) => each['event'] === 'memory-notification'),
    { watches: ['hard memory threshold', 'hard allocatable memory threshold'], everyMs: 100 },
  );
  // The first reading of the watch has to be before the line is crossed.
  await new Promise((resolve) => {
    nodeStats.onUsage = () => resolve(undefined);
  });
  await daemon.event((event) => event.kind === 'observed');
  const began = clock.now();
  nodeStats.memoryFree = 50 * MIB;
  const met = await daemon.event((event) => event.kind === 'threshold-met');
  // The next pass of this profile comes ten seconds after the last one.
  t.true(met.at - began < 5_000, `after ${met.at - began} ms`);
});

test.serial('a memory line holds for the cgroup of the pods too, and conditions follow from it', async (t) => {
  const node = await openNode(t);
  const nodeStats = new FakeNodeStats(() => instant(Date.now()));
  const limit = bytes(1_000 * MIB);
  nodeStats.podsMemory = {
    kind: 'reading',
    reading: {
      available: bytes(60 * MIB),
      capacity: limit,
      workingSet: bytes(940 * MIB),
      usage: limit,
      at: nodeStats.now(),
    },
  };
  const daemon = startDaemon(t, node, [LINES], { nodeStats });
  const met = await daemon.event((event) => event.kind === 'threshold-met');
  t.like(met, { threshold: { signal: 'allocatableMemory.available' }, observation: { available: 60 * MIB } });
  t.like(await daemon.event((event) => event.kind === 'condition-on'), { condition: 'MemoryPressure' });
});

test.serial('where there is no cgroup of the pods that is said once, with its reason, and warns nobody', async (t) => {
  const node = await openNode(t);
  const daemon = startDaemon(t, node, [LINES, '--cgroup-root=/none-of-this-name']);
  await daemon.event(() => daemon.events.filter((event) => event.kind === 'observed').length > 20);
  const about = daemon.events.filter((event) => 'signal' in event && event.signal === 'allocatableMemory.available');
  t.deepEqual(
    about.map((event) => ('reason' in event ? [event.kind, event.reason] : [event.kind])),
    [['signal-unknown', 'not-measurable']],
  );
  t.like(
    daemon.lines.find((each) => each['signal'] === 'allocatableMemory.available'),
    {
      msg: 'allocatableMemory.available cannot be measured here: there is no cgroup none_of_this_name.slice/none_of_this_name-kubepods.slice or none-of-this-name/kubepods below /sys/fs/cgroup',
    },
  );
});

const GROUPS = '/sys/fs/cgroup/memory';
const CAN_MAKE_GROUPS: Need = [
  'a memory hierarchy of version 1 in which groups can be made',
  () => {
    const probe = `${GROUPS}/reclaimd-daemon-probe-${process.pid}`;
    try {
      mkdirSync(probe);
      rmdirSync(probe);
      return true;
    } catch {
      return false;
    }
  },
];

test.serial('pods that take memory of a real cgroup wake the daemon before its next pass', async (t) => {
  if (!canRun(t, ROOT, CAN_MAKE_GROUPS)) return;
  const root = `reclaimd-daemon-${process.pid}`;
  const pods = `${GROUPS}/${root}/kubepods`;
  mkdirSync(pods, { recursive: true });
  writeFileSync(`${pods}/memory.limit_in_bytes`, `${256 * MIB}`);
  t.teardown(() => {
    rmdirSync(pods);
    rmdirSync(`${GROUPS}/${root}`);
  });
  const node = await openNode(t);
  const clock = systemClock();
  const flags = [LINES, '--profile=kubelet', '--kernel-memcg-notification', `--cgroup-root=/${root}`];
  const daemon = startDaemon(t, node, flags, { clock });
  await daemon.event((event) => event.kind === 'notifiers-updated');
  await daemon.event((event) => event.kind === 'observed');
  const began = clock.now();
  // It joins the group, and takes 200 MiB that it touches.
  const script = `echo $$ > ${pods}/cgroup.procs && exec ${process.execPath} -e 'globalThis.m = Buffer.alloc(200 << 20, 1); setInterval(() => m, 1e6)'`;
  const taker = spawn('/bin/sh', ['-c', script], { stdio: 'ignore' });
  const ended = once(taker, 'exit');
  t.teardown(async () => {
    taker.kill('SIGKILL');
    await ended;
    await daemon.end();
  });
  const met = await daemon.event(
    (event) => event.kind === 'threshold-met' && event.threshold.signal === 'allocatableMemory.available',
  );
  t.true(met.at - began < 8_000, `after ${met.at - began} ms`);
  taker.kill('SIGKILL');
  await ended;
  await daemon.end();
  // The kernel gives a group back when its last process is buried.
  await until(() => readFileSync(`${pods}/cgroup.procs`, 'utf8') === '');
});
