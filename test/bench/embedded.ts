import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EmbeddedRuntimeOptions } from '../../src/embedded/options.js';
import type { Order, RuntimePlace, Tidings } from './embedded-protocol.js';

/** An embedded runtime in a process of its own. */
export interface EmbeddedProcess extends RuntimePlace, AsyncDisposable {
  makeGarbage(bytes: number): Promise<void>;
  startWriting(bytesPerSecond: number): Promise<void>;
  /** Also deletes what was written. */
  stopWriting(): Promise<void>;
  /** When the first call to remove something arrives from now on: nanoseconds of the system's steady clock. */
  nextRemoval(): Promise<bigint>;
}

type Task = Order extends infer Each ? (Each extends Order ? Omit<Each, 'number'> : never) : never;

/** Starts it, and resolves when its socket answers. */
export async function startEmbeddedProcess(options: EmbeddedRuntimeOptions): Promise<EmbeddedProcess> {
  // 'advanced' carries bigints.
  const child = fork(fileURLToPath(new URL('./embedded-process.js', import.meta.url)), { serialization: 'advanced' });
  const answers = new Map<number, (tidings: Exclude<Tidings, { kind: 'removal' }>) => void>();
  const removals = new Set<(at: bigint) => void>();
  let last = 0;
  child.on('message', (tidings: Tidings) => {
    if (tidings.kind === 'removal') {
      for (const tell of removals) tell(tidings.at);
      removals.clear();
      return;
    }
    answers.get(tidings.number)?.(tidings);
    answers.delete(tidings.number);
  });
  child.on('exit', (code, signal) => {
    for (const [number, answer] of answers)
      answer({ kind: 'failed', number, message: `its process ended with ${signal ?? code}` });
    answers.clear();
  });
  const order = (task: Task): Promise<RuntimePlace | null> =>
    new Promise((resolve, reject) => {
      last += 1;
      answers.set(last, (tidings) => {
        if (tidings.kind === 'done') resolve(tidings.runtime);
        else reject(new Error(`Cannot ${task.kind} in the embedded runtime: ${tidings.message}`));
      });
      child.send({ ...task, number: last });
    });
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    await order({ kind: 'close' }).finally(() => child.disconnect());
    await ended;
  };
  try {
    const place = await order({ kind: 'start', options });
    if (place === null) throw new Error('Cannot use the embedded runtime as it must say where it is: null');
    return {
      ...place,
      makeGarbage: async (bytes) => void (await order({ kind: 'make-garbage', bytes })),
      startWriting: async (bytesPerSecond) => void (await order({ kind: 'write', bytesPerSecond })),
      stopWriting: async () => void (await order({ kind: 'stop-writing' })),
      nextRemoval: () => new Promise((resolve) => removals.add(resolve)),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
