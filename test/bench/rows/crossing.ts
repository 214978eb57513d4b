import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchDaemon, startDaemon, writeSettings } from '../daemon.js';
import { type EmbeddedProcess, startEmbeddedProcess } from '../embedded.js';
import { type Effort, PartMissing, type Row, type RowResult } from '../row.js';
import { crossing, digits, type Level, range, type Summary, summarise } from '../statistics.js';

/**
 * How soon the daemon acts: from the moment when the disk of a writer of 100 MB/s passes the line, as seen from outside, to
 * the arrival of the first removal at the runtime. Writer and runtime, daemon, and the look from outside are three
 * processes; their times are those of the one steady clock of the system.
 */
export const crossingRow: Row = {
  name: 'crossing',
  question: 'from a line crossed at 100 MB/s to the first removal call',
  missing: () => (process.platform === 'linux' ? [] : ['Linux: a tmpfs of its own is mounted']),
  run: measureCrossings,
};

const MARK_MEDIAN_MS = 150;
const MARK_P99_MS = 400;
const WRITE_RATE = 100_000_000;
const MIB = 1 << 20;
const DISK = 256 * MIB;
const LINE = 64 * MIB;
/** What the settings say; it decides how early the daemon begins to look often. */
const ASSUMED_FILL_RATE = '200M';
/** Enough that one removal ends the pressure. */
const GARBAGE = 24 * MIB;
/** The kubelet's pause: a phase of the writer is random when it begins anywhere within it. */
const KUBELET_PAUSE_MS = 10_000;

interface Reaction {
  readonly ms: number;
  /** Between the two looks from outside that the moment of crossing lies between. */
  readonly doubtMs: number;
}

async function measureCrossings({ isQuick, say }: Effort): Promise<RowResult> {
  const runs = isQuick ? 10 : 50;
  const kubeletRuns = isQuick ? 2 : 5;
  await using runtime = await startEmbeddedProcess({
    disk: { sizeBytes: DISK, layout: 'shared' },
    // Space comes back at once: only the first call matters here, and the next run waits for the space.
    removalDelayMs: 0,
  });
  if (runtime.diskKind === 'accounted')
    throw new PartMissing(`a real disk: run as root, or allow user namespaces (there is ${runtime.description})`);
  const reclaimd = await reactions(runtime, 'reclaimd', runs, 1_000, say);
  const kubelet = await reactions(runtime, 'kubelet', kubeletRuns, KUBELET_PAUSE_MS, say);

  const summary = summarise(reclaimd.map(({ ms }) => ms));
  const doubt = summarise(reclaimd.map(({ doubtMs }) => doubtMs));
  const reference = `profile kubelet (10 s tick): ${spreadText(summarise(kubelet.map(({ ms }) => ms)))}`;
  return {
    measures: [
      {
        what: 'line crossed -> first removal, p50',
        unit: 'ms',
        value: summary.median,
        spread: spreadText(summary),
        mark: MARK_MEDIAN_MS,
        reference,
      },
      {
        what: 'line crossed -> first removal, p99',
        unit: 'ms',
        value: summary.p99,
        spread: spreadText(summary),
        mark: MARK_P99_MS,
        reference,
      },
    ],
    notes: [
      `${runtime.description}; line at ${LINE / MIB} MiB available; writer ${WRITE_RATE / 1e6} MB/s; assumed worst fill rate ${ASSUMED_FILL_RATE}B/s`,
      `the disk was looked at from outside every 2 ms; the crossing lies between two looks ${digits(doubt.median)} (at most ${digits(doubt.max)}) ms apart`,
    ],
  };
}

function spreadText(summary: Summary): string {
  return `${range(summary)}, p50 ${digits(summary.median)}, p99 ${digits(summary.p99)} ms of ${summary.count}`;
}

/** Runs one after the other against one daemon, each begun after a random pause. */
async function reactions(
  runtime: EmbeddedProcess,
  profile: 'reclaimd' | 'kubelet',
  runs: number,
  longestPauseMs: number,
  say: (text: string) => void,
): Promise<readonly Reaction[]> {
  const directory = mkdtempSync(join(tmpdir(), 'reclaimd-bench-'));
  try {
    const daemon = await startDaemon(
      writeSettings(directory, {
        profile,
        containerRuntimeEndpoint: runtime.endpoint,
        rootDir: runtime.nodePath,
        podLogsDir: runtime.logsPath,
        sandboxImage: runtime.sandboxImage,
        evictionHard: { 'nodefs.available': `${LINE / MIB}Mi` },
        // What is dead is to be there when the line is crossed: the pass each minute would take it away before.
        periodicCollection: { containers: 'never', images: 'never', logRotation: 'never' },
        // A run ends when the condition does.
        evictionPressureTransitionPeriod: '200ms',
        // The kubelet's profile keeps the last dead container of a pod otherwise.
        containerGC: { maxPerPodContainer: 0, maxContainers: 0 },
        imageGCHighThresholdPercent: 100,
        sampling: { assumedFillRate: ASSUMED_FILL_RATE },
      }),
    );
    try {
      await daemon.next('layout-changed');
      const found: Reaction[] = [];
      while (found.length < runs) {
        say(`profile ${profile}, run ${found.length + 1} of ${runs}`);
        await runtime.makeGarbage(GARBAGE);
        await delay(Math.random() * longestPauseMs);
        found.push(await react(runtime, daemon));
      }
      return found;
    } finally {
      await daemon.stop();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function react(runtime: EmbeddedProcess, daemon: BenchDaemon): Promise<Reaction> {
  daemon.forget();
  const removal = runtime.nextRemoval();
  const passed = lineCrossed(runtime.diskPath);
  await runtime.startWriting(WRITE_RATE);
  try {
    const { above, below } = await passed;
    const removedAt = await within(removal, 30_000);
    const crossedAt = crossing(above, below, LINE);
    if (removedAt < above.at)
      throw new Error('Cannot take the removal for an answer as it must come after the crossing');
    return { ms: Number(removedAt - crossedAt) / 1e6, doubtMs: Number(below.at - above.at) / 1e6 };
  } finally {
    await runtime.stopWriting();
    // The next run must begin on a disk that the daemon has seen healthy, with nothing of this one under way.
    await daemon.next('condition-off');
  }
}

/** Looks until the available bytes are below the line; resolves to the last look before it and the first after it. */
async function lineCrossed(path: string): Promise<{ readonly above: Level; readonly below: Level }> {
  const look = (): Level => {
    const { bavail, bsize } = statfsSync(path);
    return { at: process.hrtime.bigint(), value: bavail * bsize };
  };
  for (let above = look(); ; ) {
    await delay(2);
    const now = look();
    if (now.value < LINE) return { above, below: now };
    above = now;
  }
}

async function within<T>(answer: Promise<T>, deadlineMs: number): Promise<T> {
  const end = new AbortController();
  const late = delay(deadlineMs, undefined, { signal: end.signal }).then(() => {
    throw new Error(`Cannot see a removal within ${deadlineMs} ms`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    late.catch(() => undefined);
    end.abort();
  }
}
