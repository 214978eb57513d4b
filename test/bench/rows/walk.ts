import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hostFiles } from '../../../src/adapters/host/files.js';
import { treeUsage } from '../../../src/adapters/host/tree-usage.js';
import { forEachBounded } from '../../../src/reclaim/image-volumes.js';
import { CONCURRENCY } from '../../../src/reclaim/pod-usage.js';
import { parseWaited } from '../process-numbers.js';
import type { Effort, Row, RowResult } from '../row.js';
import { digits, range, summarise } from '../statistics.js';

/** Whether the walk of pods' files, which runs in a thread of its own, ever holds up the thread that decides. */
export const walkRow: Row = {
  name: 'walk',
  question: 'how long a walk of 100,000 files of emptyDirs and logs holds up the main thread',
  missing: () => [],
  run: measureWalks,
};

const MARK_MS = 20;
const PODS = 50;
/** In each pod, half of them in emptyDirs and half in logs: 100,000 in all. */
const FILES_IN_POD = 2_000;
const DIRECTORIES_IN_TREE = 10;
const MAX_ENTRIES = 200_000;
const run = promisify(execFile);

async function measureWalks({ isQuick, say }: Effort): Promise<RowResult> {
  const rounds = isQuick ? 2 : 7;
  const directory = mkdtempSync(join(tmpdir(), 'reclaimd-bench-'));
  try {
    say('making 100,000 files');
    const trees = makeTrees(directory);
    await using files = hostFiles();
    let walkedBytes = 0;
    const walk = async () => {
      walkedBytes = 0;
      await forEachBounded(trees, CONCURRENCY, async (tree) => {
        const usage = await files.usage(tree, MAX_ENTRIES);
        if (usage?.complete !== true) throw new Error(`Cannot measure walks as they must be complete: ${tree}`);
        walkedBytes += usage.bytes;
      });
    };
    await walk();
    const walks: Stretch[] = [];
    const rests: Stretch[] = [];
    const du: number[] = [];
    let duBytes = 0;
    for (let round = 1; round <= rounds; round += 1) {
      say(`walk ${round} of ${rounds}`);
      const walked = await watched(walk);
      walks.push(walked);
      rests.push(await watched(() => new Promise((resolve) => setTimeout(resolve, walked.took))));
      const began = performance.now();
      const { stdout } = await run('du', ['-s', '-B1', ...trees]);
      du.push(performance.now() - began);
      duBytes = stdout
        .trim()
        .split('\n')
        .reduce((sum, line) => sum + Number(line.split('\t')[0]), 0);
    }
    if (walkedBytes !== duBytes)
      throw new Error(`Cannot judge walks as they must count what du counts, ${duBytes} bytes: ${walkedBytes}`);
    // The same work where it would be in the way: shows that the watch sees it.
    const inTheWay = await watched(async () => {
      for (const tree of trees) treeUsage(tree, new Set(), MAX_ENTRIES, () => false);
    });
    const stalls = summarise(walks.map(({ stall }) => stall));
    const gaps = summarise(walks.map(({ gap }) => gap));
    const took = summarise(walks.map((each) => each.took));
    const duSummary = summarise(du);
    return {
      measures: [
        {
          what: 'longest stall of the main thread during a walk, processor given',
          unit: 'ms',
          value: stalls.max,
          spread: `${range(stalls)} of ${rounds}`,
          mark: MARK_MS,
          reference: `as long at rest: ${range(summarise(rests.map(({ stall }) => stall)))} ms; walked by the main thread: ${digits(inTheWay.stall)} ms`,
        },
        {
          what: 'the same with the waiting for a processor',
          unit: 'ms',
          value: gaps.max,
          spread: `${range(gaps)} of ${rounds}`,
          mark: null,
          reference: `as long at rest: ${range(summarise(rests.map(({ gap }) => gap)))} ms`,
        },
        {
          what: 'time of the walk',
          unit: 'ms',
          value: took.median,
          spread: `${range(took)} of ${rounds}`,
          mark: null,
          reference: `du -s: ${digits(duSummary.median)} ms (${range(duSummary)})`,
        },
      ],
      notes: [
        `${PODS * FILES_IN_POD} files in ${trees.length} trees under ${tmpdir()}; both counted ${walkedBytes} bytes`,
      ],
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Directories as pods have them; answers with the trees to walk, an emptyDir's and a log's for each pod. */
function makeTrees(directory: string): readonly string[] {
  return Array.from({ length: PODS }, (_, pod) => pod).flatMap((pod) => {
    const trees = [
      join(directory, `pods/${pod}/volumes/kubernetes.io~empty-dir`),
      join(directory, `logs/team_app_${pod}`),
    ];
    for (const tree of trees) {
      for (let part = 0; part < DIRECTORIES_IN_TREE; part += 1) {
        const inside = join(tree, `part-${part}`);
        mkdirSync(inside, { recursive: true });
        for (let file = 0; file < FILES_IN_POD / trees.length / DIRECTORIES_IN_TREE; file += 1)
          writeFileSync(join(inside, `${file}.log`), 'x');
      }
    }
    return trees;
  });
}

interface Stretch {
  readonly took: number;
  /** The longest time between two turns of a timer that is due every millisecond. */
  readonly gap: number;
  /** The longest without the time in which the thread could have run and had no processor, as the scheduler counts it. */
  readonly stall: number;
}

async function watched(job: () => Promise<unknown>): Promise<Stretch> {
  const began = performance.now();
  let turned = began;
  let waited = waitedForProcessor();
  let gap = 0;
  let stall = 0;
  const turn = () => {
    const [now, waitedNow] = [performance.now(), waitedForProcessor()];
    gap = Math.max(gap, now - turned);
    stall = Math.max(stall, now - turned - (waitedNow - waited));
    [turned, waited] = [now, waitedNow];
  };
  const timer = setInterval(turn, 1);
  try {
    await job();
  } finally {
    turn();
    clearInterval(timer);
  }
  return { took: performance.now() - began, gap, stall };
}

/** Milliseconds that the main thread has waited for a processor so far; its id is that of the process. */
function waitedForProcessor(): number {
  return parseWaited(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8'));
}
