import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import systeminformation from 'systeminformation';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { type HostMounts, hostMounts } from '../../../src/adapters/host/mounts.js';
import { cpuTime } from '../process-numbers.js';
import type { Effort, Row, RowResult } from '../row.js';
import { digits, range, summarise } from '../statistics.js';

/** A look at a local filesystem: the CPU time that one takes, all threads of this process together. */
export const sampleRow: Row = {
  name: 'sample',
  question: 'what one look at a local filesystem costs',
  missing: () => [],
  run: measureSamples,
};

const MARK_MICROSECONDS = 50;
/** Enough that the compiler of V8 has settled after the first block. */
const LOOKS_IN_BLOCK = 2_000;
const PAUSE_MS = 10;
const PACED_LOOKS = 50;
/** systeminformation answers some questions from a cache when they come again within half a second. */
const PAST_THE_CACHE_MS = 600;

async function measureSamples({ isQuick, say }: Effort): Promise<RowResult> {
  using mounts = hostMounts({ clock: systemClock() });
  const path = tmpdir();
  await expectReading(mounts, path);
  const blocks = isQuick ? 7 : 15;

  say('looks, one after the other');
  const look = async () => void (await mounts.look(path));
  await cpuOfBlock(LOOKS_IN_BLOCK, look);
  const tight = [];
  for (let block = 0; block < blocks; block += 1) tight.push(await cpuOfBlock(LOOKS_IN_BLOCK, look));

  say('looks with pauses, which find the caches of the processor cold');
  const pausing = () => delay(PAUSE_MS);
  const paced = [];
  for (let block = 0; block < blocks; block += 1) {
    const withLooks = await cpuOfBlock(PACED_LOOKS, async () => {
      await pausing();
      await look();
    });
    paced.push(Math.max(0, withLooks - (await cpuOfBlock(PACED_LOOKS, pausing))));
  }

  say('references: df and systeminformation.fsSize');
  const repetitions = isQuick ? 5 : 15;
  const df = await cpuWithChildren(repetitions, 20, runDf);
  const fsSize = await cpuWithChildren(repetitions, PAST_THE_CACHE_MS, askFsSize);
  if (fsSize.children === 0)
    throw new Error('Cannot take fsSize as a reference as it must run df each time: it started nothing');

  const summary = summarise(tight);
  const pacedSummary = summarise(paced);
  return {
    measures: [
      {
        what: 'CPU of one look (stat and statfs)',
        unit: 'us',
        value: summary.median,
        spread: `${range(summary)} of ${blocks} x ${LOOKS_IN_BLOCK}`,
        mark: MARK_MICROSECONDS,
        reference: `spawn df: ${costText(df)}; si.fsSize: ${costText(fsSize)}`,
      },
      {
        what: 'the same, 10 ms apart',
        unit: 'us',
        value: pacedSummary.median,
        spread: `${range(pacedSummary)} of ${blocks} x ${PACED_LOOKS}`,
        mark: null,
        reference: 'the pause itself is taken off',
      },
    ],
    notes: [
      `looked at ${path}; systeminformation was asked every ${PAST_THE_CACHE_MS} ms, so that nothing came from its cache`,
    ],
  };
}

async function expectReading(mounts: HostMounts, path: string): Promise<void> {
  const look = await mounts.look(path);
  if (look.kind !== 'reading') throw new Error(`Cannot measure looks as there must be a reading: ${look.kind}`);
  if (look.available > look.capacity || statSync(path).isDirectory() === false)
    throw new Error(`Cannot measure looks as the reading must be possible: ${look.available} of ${look.capacity}`);
  if (mounts.helperPid() !== undefined)
    throw new Error(`Cannot measure looks as the filesystem must be a local one: ${path}`);
}

/** Microseconds of CPU for one job, over a block of them one after the other. */
async function cpuOfBlock(jobs: number, job: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let done = 0; done < jobs; done += 1) await job();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / jobs;
}

interface Cost {
  /** Milliseconds of CPU for one job, in this process and in its children. */
  readonly own: number;
  readonly children: number;
  readonly repetitions: number;
}

/** The kernel counts children in ticks of 10 ms, so only the sum over all repetitions says something. */
async function cpuWithChildren(repetitions: number, pauseMs: number, job: () => Promise<void>): Promise<Cost> {
  await job();
  const childrenBefore = cpuTime('self').children;
  const own = [];
  for (let done = 0; done < repetitions; done += 1) {
    await delay(pauseMs);
    own.push((await cpuOfBlock(1, job)) / 1_000);
  }
  const children = (cpuTime('self').children - childrenBefore) / repetitions;
  return { own: summarise(own).median, children, repetitions };
}

function costText({ own, children, repetitions }: Cost): string {
  return `${digits(own)} + ${digits(children)} ms CPU here + in children (${repetitions} x)`;
}

async function runDf(): Promise<void> {
  const child = spawn('df', ['-P', tmpdir()], { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`Cannot take df as a reference as it must succeed: ${code}`);
}

async function askFsSize(): Promise<void> {
  const found = await systeminformation.fsSize();
  if (found.length === 0) throw new Error('Cannot take fsSize as a reference as it must find a filesystem: none');
}
