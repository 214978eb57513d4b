import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { NodeSize } from '../node-records.js';
import type { PassTimes } from '../pass-protocol.js';
import type { Effort, Row, RowResult } from '../row.js';
import { digits, range, summarise } from '../statistics.js';

/**
 * What a pass costs once the lists are decoded: look, judge, plan all that would go and rank all pods, in the node that the daemon
 * composes, over records in memory, in fresh processes with the service's flags. It is a dry run up to the moment at which its plan
 * stands; that it is told afterwards, one event for each container and image, is not measured.
 */
export const passRow: Row = {
  name: 'pass',
  question: 'one pass over 10,000 containers and images and 500 pods, and over ten times as many',
  missing: () => [],
  run: measurePasses,
};

const MARK_MS = 30;
/** Ten times as much to do may take twice as long as ten times: sorting and colder caches are no fault, a nested search is. */
const MARK_RATIO = 20;
const NODE: NodeSize = { containers: 10_000, images: 10_000, pods: 500 };
const LARGE_NODE: NodeSize = { containers: 100_000, images: 100_000, pods: 5_000 };
const WARM_UP = 10;
const LARGE_WARM_UP = 3;

async function measurePasses({ isQuick, say }: Effort): Promise<RowResult> {
  const [rounds, largeRounds] = isQuick ? [20, 3] : [60, 7];
  say('10,000 containers and images, 500 pods');
  const node = await ask(NODE, rounds, WARM_UP);
  say('100,000 containers and images, 5,000 pods');
  const large = await ask(LARGE_NODE, largeRounds, LARGE_WARM_UP);
  const summary = summarise(node.cpuMs);
  const largeSummary = summarise(large.cpuMs);
  const largeText = `${digits(largeSummary.median)} ms (${range(largeSummary)}) of ${largeRounds}`;
  return {
    measures: [
      {
        what: 'CPU of one pass over 10,000 containers and images, 500 pods',
        unit: 'ms',
        value: summary.median,
        spread: `${range(summary)} of ${rounds}`,
        mark: MARK_MS,
        reference: `ten times as large: ${largeText}`,
      },
      {
        what: 'ten times as large, as a multiple',
        unit: 'x',
        value: largeSummary.median / summary.median,
        spread: largeText,
        mark: MARK_RATIO,
        reference: 'linear would be 10',
      },
    ],
    notes: [
      `records were new for each pass, as decoding makes them; a pass would have removed ${node.wouldRemove} (${large.wouldRemove}) and evicted one pod`,
      `median of later passes, since those of a daemon repeat; the first of the process cost ${digits(node.firstMs)} ms (${digits(large.firstMs)} ms), most of it compiling`,
      'mounts of containers are asked once in their lives, so none in the passes measured',
    ],
  };
}

async function ask({ containers, images, pods }: NodeSize, rounds: number, warmUp: number): Promise<PassTimes> {
  const program = fileURLToPath(new URL('../pass-process.js', import.meta.url));
  const child = fork(program, [containers, images, pods, rounds, warmUp].map(String), {
    execArgv: ['--max-semi-space-size=1'],
  });
  const ended = once(child, 'exit');
  const answer = await Promise.race([
    once(child, 'message').then(([message]) => message as PassTimes), // sent by pass-process.ts alone
    ended.then(([code]) => {
      throw new Error(`Cannot measure passes as the process ended before it answered: ${code}`);
    }),
  ]);
  await ended;
  // A pass that finds nothing to do would be quick.
  if (answer.wouldRemove < (containers + images) / 2 || answer.wouldEvict === null)
    throw new Error(`Cannot judge passes as they must plan for most of the node: ${answer.wouldRemove}`);
  return answer;
}
