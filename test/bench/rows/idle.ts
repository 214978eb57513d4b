import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { type LabContainerd, startContainerd } from '../../lab/containerd.js';
import { missingParts, partsFor } from '../../lab/parts.js';
import { runContainer, runPod } from '../../lab/pods.js';
import { waitFor } from '../../lab/wait.js';
import { DAEMON_COMMAND, writeSettings } from '../daemon.js';
import { cpuTime, memory, scheduledTime } from '../process-numbers.js';
import type { Effort, Row, RowResult } from '../row.js';
import { digits, range, summarise } from '../statistics.js';

/** What a daemon costs that has nothing to do: beside a real containerd with fifty containers, on a disk with much room. */
export const idleRow: Row = {
  name: 'idle',
  question: 'what an idle daemon costs',
  missing: () => missingParts(partsFor('2.4', 'ext4')),
  run: measureIdling,
};

const MARK_PERCENT_OF_CORE = 0.3;
const MARK_MIB = 85;
/** A sparse file: it takes no more of the host's disk than is written to it. */
const DISK_MIB = 16 * 1024;
const PODS = 10;
const CONTAINERS_PER_POD = 5;
const SETTLING_MS = 10_000;
/** /proc/PID/stat counts in these; it also knows threads and children that have ended. */
const TICK_MS = 10;
const IMAGE = 'local.test/idle:1';

async function measureIdling({ isQuick, say }: Effort): Promise<RowResult> {
  const seconds = isQuick ? 15 : 60;
  say('starting containerd 2.4 with a disk of 16 GiB');
  // The runtime's own refresh of its statistics stays at its default, so that only the daemon is different from any node.
  const lab = await startContainerd({
    generation: '2.4',
    filesystem: 'ext4',
    sizeMiB: DISK_MIB,
    statsPeriodSeconds: 10,
  });
  try {
    say(`starting ${PODS * CONTAINERS_PER_POD} containers`);
    await fillNode(lab);
    return await watch(lab, seconds, say);
  } finally {
    await lab.close();
  }
}

async function watch(lab: LabContainerd, seconds: number, say: (text: string) => void): Promise<RowResult> {
  const settings = writeSettings(lab.paths.work, {
    containerRuntimeEndpoint: lab.endpoint,
    rootDir: lab.paths.kubeletRoot,
    podLogsDir: lab.paths.podLogs,
    sandboxImage: lab.sandboxImage,
  });
  const [program, ...args] = DAEMON_COMMAND;
  const daemon = await lab.spawnInNamespace(program, [...args, settings], { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = collect(daemon.child);
  const bare = spawn(program, ['--max-semi-space-size=1', '-e', 'setInterval(() => {}, 10_000)'], { stdio: 'ignore' });
  try {
    await waitFor('the daemon look', 20_000, () => log().includes('"event":"layout-changed"') || undefined, log);
    const barePid = bare.pid;
    if (barePid === undefined) throw new Error('Cannot take a bare node as a reference as it must run: no process');
    say(`letting it settle for ${SETTLING_MS / 1_000} s, then watching for ${seconds} s`);
    await delay(SETTLING_MS);
    const before = { own: scheduledTime(daemon.pid), ticks: allTicks(daemon.pid), bare: scheduledTime(barePid) };
    const begin = performance.now();
    const resident: number[] = [];
    const bareResident: number[] = [];
    while (performance.now() - begin < seconds * 1_000) {
      await delay(1_000);
      resident.push(memory(daemon.pid).resident);
      bareResident.push(memory(barePid).resident);
    }
    const took = performance.now() - begin;
    const own = scheduledTime(daemon.pid) - before.own;
    const ticks = allTicks(daemon.pid) - before.ticks;
    const bareOwn = scheduledTime(barePid) - before.bare;
    if (/"event":"(threshold-met|runtime-lost|pass-failed)"/.test(log()))
      throw new Error(`Cannot call the daemon idle as it was not: ${log()}`);
    const percent = (cpuMs: number) => (cpuMs / took) * 100;
    const residents = summarise(resident);
    const bareResidents = summarise(bareResident);
    return {
      measures: [
        {
          what: 'CPU, of one core',
          unit: '%',
          value: Math.max(percent(own), percent(ticks - TICK_MS)),
          spread: `${digits(own)} ms in ${digits(took / 1_000)} s; by /proc/PID/stat ${ticks} ms`,
          mark: MARK_PERCENT_OF_CORE,
          reference: `node with a 10 s timer: ${digits(percent(bareOwn))} %`,
        },
        {
          what: 'memory (VmRSS), at most',
          unit: 'MiB',
          value: residents.max,
          spread: `${range(residents)} of ${resident.length}`,
          mark: MARK_MIB,
          reference: `node with a 10 s timer: ${digits(bareResidents.max)} MiB`,
        },
      ],
      notes: [
        `${lab.title} with ${PODS * CONTAINERS_PER_POD} containers in ${PODS} pods, ext4 of ${DISK_MIB / 1024} GiB; started as node --max-semi-space-size=1 scripts/reclaimd.cjs run; after ${SETTLING_MS / 1_000} s of settling`,
      ],
    };
  } finally {
    bare.kill('SIGKILL');
    daemon.kill('SIGTERM');
    await daemon.ended;
  }
}

function allTicks(pid: number): number {
  const { self, children } = cpuTime(pid);
  return self + children;
}

async function fillNode(lab: LabContainerd): Promise<void> {
  await lab.importImage({ name: IMAGE, layers: [{ kind: 'busybox' }] });
  for (let pod = 0; pod < PODS; pod += 1) {
    const started = await runPod(lab, { name: `pod-${pod}` });
    for (let container = 0; container < CONTAINERS_PER_POD; container += 1)
      await runContainer(lab, started, { name: `container-${container}`, image: IMAGE });
  }
}

function collect(child: ChildProcess): () => string {
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
  }
  return () => chunks.join('');
}
