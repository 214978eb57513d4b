import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programForm, startDaemon, writeSettings } from '../daemon.js';
import { startEmbeddedProcess } from '../embedded.js';
import { cpuTime, scheduledTime } from '../process-numbers.js';
import type { Effort, Row, RowResult } from '../row.js';
import { digits, range, summarise } from '../statistics.js';

/**
 * How soon a started daemon knows its disks: from just before the process is made to the line by which it says how the disks
 * are laid out, which it knows from its first look, all three filesystems read and the runtime asked where they are.
 */
export const startRow: Row = {
  name: 'start',
  question: 'from the start of the process to the first sample',
  missing: () => [],
  run: measureStarts,
};

const MARK_MS = 250;

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

async function measureStarts({ isQuick, say }: Effort): Promise<RowResult> {
  const runs = isQuick ? 5 : 20;
  await using runtime = await startEmbeddedProcess({ disk: { sizeBytes: 64 << 20, layout: 'shared' } });
  const directory = mkdtempSync(join(tmpdir(), 'reclaimd-bench-'));
  try {
    const settings = writeSettings(directory, {
      containerRuntimeEndpoint: runtime.endpoint,
      rootDir: runtime.nodePath,
      podLogsDir: runtime.logsPath,
      sandboxImage: runtime.sandboxImage,
    });
    const daemon = async (): Promise<Start> => {
      const started = await startDaemon(settings);
      const { at } = await started.next('layout-changed');
      const cpuMs = scheduledTime(started.pid);
      await started.stop();
      return { ms: Number(at - started.startedAt) / 1e6, cpuMs };
    };
    await daemon();
    await bareNode();
    const starts: Start[] = [];
    const bare: number[] = [];
    let bareTicks = 0;
    // In turns, so that both see the same machine.
    for (let run = 1; run <= runs; run += 1) {
      say(`start ${run} of ${runs}`);
      starts.push(await daemon());
      const before = cpuTime('self').children;
      bare.push(await bareNode());
      bareTicks += cpuTime('self').children - before;
    }
    const summary = summarise(starts.map(({ ms }) => ms));
    const cpu = summarise(starts.map(({ cpuMs }) => cpuMs));
    const bareSummary = summarise(bare);
    return {
      measures: [
        {
          what: 'process start -> first sample',
          unit: 'ms',
          value: summary.median,
          spread: `${range(summary)} of ${runs}`,
          mark: MARK_MS,
          reference: `node -e 0, to its end: ${digits(bareSummary.median)} ms (${range(bareSummary)})`,
        },
        {
          what: 'CPU until then, which a busy machine stretches less',
          unit: 'ms',
          value: cpu.median,
          spread: `${range(cpu)} of ${runs}`,
          mark: null,
          reference: `node -e 0: ${digits(bareTicks / runs)} ms`,
        },
      ],
      notes: [
        `started was ${programForm()}; the first sample is known by the line of its layout in the log, as it arrives here`,
      ],
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function bareNode(): Promise<number> {
  const before = process.hrtime.bigint();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`Cannot take a bare node as a reference as it must succeed: ${code}`);
  return Number(process.hrtime.bigint() - before) / 1e6;
}
