import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type EmbeddedProcess, startEmbeddedProcess } from '../embedded.js';
import type { ListMemory, ListTask, ListTimes } from '../list-protocol.js';
import type { Effort, Row, RowResult } from '../row.js';
import { digits, range, summarise } from '../statistics.js';

/** What a list of ten thousand containers costs, in time and in memory, in fresh processes with the service's flags. */
export const listRow: Row = {
  name: 'list',
  question: 'listing 10,000 containers',
  missing: () => [],
  run: measureLists,
};

const CONTAINERS = 10_000;
const MARK_RATIO = 1.3;
const MARK_PEAK_MIB = 250;
const MARK_IDLE_MIB = 120;

async function measureLists({ isQuick, say }: Effort): Promise<RowResult> {
  const rounds = isQuick ? 10 : 40;
  // CRI-O has no streams: there a list is one answer, whose bytes can be received raw. containerd 2 is looked at beside it.
  await using unary = await startEmbeddedProcess({
    behaviour: 'cri-o',
    preload: { containers: CONTAINERS, images: 200 },
  });
  say('by one answer: time');
  const times = await ask(unary, 'time', rounds);
  await using streamed = await startEmbeddedProcess({
    behaviour: 'containerd-2',
    preload: { containers: CONTAINERS, images: 200 },
  });
  say('by stream: time');
  const streamTimes = await ask(streamed, 'time', rounds);
  say('memory, both at once');
  const [memory, streamMemory] = await Promise.all([ask(unary, 'memory', rounds), ask(streamed, 'memory', rounds)]);
  if (
    times.kind !== 'time' ||
    streamTimes.kind !== 'time' ||
    memory.kind !== 'memory' ||
    streamMemory.kind !== 'memory'
  )
    throw new Error('Cannot judge the lists as each task must be answered in kind');

  const listed = summarise(times.listed);
  const raw = summarise(times.raw);
  const byStream = summarise(streamTimes.listed);
  return {
    measures: [
      {
        what: 'time, as a multiple of raw bytes + decoding',
        unit: 'x',
        value: listed.median / raw.median,
        spread: `${range(listed)} ms of ${rounds}`,
        mark: MARK_RATIO,
        reference: `${digits(listed.median)} ms here, raw ${digits(raw.median)} ms (${range(raw)}); by stream ${digits(byStream.median)} ms`,
      },
      {
        what: 'peak memory (VmHWM)',
        unit: 'MiB',
        value: memory.peak,
        spread: `1 process, ${rounds} lists`,
        mark: MARK_PEAK_MIB,
        reference: `by stream ${digits(streamMemory.peak)} MiB`,
      },
      {
        what: 'memory after 30 s of rest (VmRSS)',
        unit: 'MiB',
        value: memory.idle,
        spread: `1 process, ${rounds} lists`,
        mark: MARK_IDLE_MIB,
        reference: `after 10 s ${digits(memory.shortly)} MiB; by stream ${digits(streamMemory.idle)}, after 10 s ${digits(streamMemory.shortly)} MiB`,
      },
    ],
    notes: [
      `${times.containers} containers, ${digits(times.bytes / 1e6)} MB in one answer; client and server in processes of their own`,
    ],
  };
}

async function ask(runtime: EmbeddedProcess, task: ListTask, rounds: number): Promise<ListTimes | ListMemory> {
  const program = fileURLToPath(new URL('../list-process.js', import.meta.url));
  const child = fork(program, [runtime.endpoint, task, String(rounds)], { execArgv: ['--max-semi-space-size=1'] });
  const ended = once(child, 'exit');
  const answer = await Promise.race([
    once(child, 'message').then(([message]) => message as ListTimes | ListMemory), // sent by list-process.ts alone
    ended.then(([code]) => {
      throw new Error(`Cannot list containers as the process ended before it answered: ${code}`);
    }),
  ]);
  await ended;
  if (answer.containers !== CONTAINERS)
    throw new Error(`Cannot judge the list as it must have ${CONTAINERS} containers: ${answer.containers}`);
  return answer;
}
