import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isNoSpace } from './cri-error.js';
import type { Step } from './program.js';
import type { SmallDisk } from './small-disk.js';
import { latch, pause } from './waiting.js';
import type { RunningWriter, WriteOrder, Writers } from './writers.js';

/** What a process runs: steps of a program, or one writer for ever. */
export type Work =
  | { readonly kind: 'steps'; readonly steps: readonly Step[] }
  | { readonly kind: 'writer'; readonly order: Omit<WriteOrder, 'budget'>; readonly onTerm: 'exit' | 'ignore' };

/** Where a process finds things. */
export interface ProcessSurroundings {
  readonly writers: Writers;
  /** The disk on which a path of the container lies, and the path on it. */
  readonly locate: (path: string) => { readonly path: string; readonly disk: SmallDisk | null };
  readonly logPath: string | null;
  readonly now: () => number;
}

/** Exit code of a process that died of SIGKILL. */
const KILLED = 137;

/** The process of a container: played here, with its writing done by the thread of the writers. */
export class ContainerProcess {
  readonly #surroundings: ProcessSurroundings;
  readonly #stopping = new AbortController();
  readonly #over = latch();
  #exitCode = 0;
  #onTerm: 'ignore' | { readonly exit: number } = 'ignore';
  #writer: RunningWriter | null = null;
  #log: FileHandle | null = null;

  constructor(work: Work, surroundings: ProcessSurroundings) {
    this.#surroundings = surroundings;
    void this.#run(work)
      // A program that fails in a way it does not handle ends, as a process does.
      .catch(() => 1)
      .then(async (code) => {
        if (!this.#stopping.signal.aborted) this.#exitCode = code;
        await this.#closeLog();
        this.#over.open();
      });
  }

  /** Resolves to the exit code when the process is gone and its files are closed. */
  get exited(): Promise<number> {
    return this.#over.opened.then(() => this.#exitCode);
  }

  /** SIGTERM. The first process of a container ignores it unless it has a handler. */
  terminate(): void {
    if (this.#onTerm !== 'ignore') this.#end(this.#onTerm.exit);
  }

  /** SIGKILL. */
  kill(): void {
    this.#end(KILLED);
  }

  /** Changes what the writer writes each second; does nothing for another program. */
  setWriteRate(perSecond: number): void {
    this.#writer?.setRate(perSecond);
  }

  /** Lets go of the log: the next line opens the file again by its name. */
  async reopenLog(): Promise<void> {
    await this.#writer?.reopen();
    await this.#closeLog();
  }

  #end(code: number): void {
    if (this.#over.isOpen || this.#stopping.signal.aborted) return;
    this.#exitCode = code;
    this.#stopping.abort();
    void this.#writer?.stop();
  }

  async #run(work: Work): Promise<number> {
    if (work.kind === 'steps') return (await this.#runSteps(work.steps)) ?? 0;
    this.#onTerm = work.onTerm === 'exit' ? { exit: 0 } : 'ignore';
    await this.#write(work.order);
    if (!this.#stopping.signal.aborted) await pause(Infinity, this.#stopping.signal);
    return 0;
  }

  /** The exit code when a step ends the program, else null. */
  async #runSteps(steps: readonly Step[]): Promise<number | null> {
    for (const step of steps) {
      if (this.#stopping.signal.aborted) return KILLED;
      const code = await this.#runStep(step);
      if (code !== null) return code;
    }
    return null;
  }

  async #runStep(step: Step): Promise<number | null> {
    switch (step.kind) {
      case 'sleep':
        await pause(step.ms, this.#stopping.signal);
        return null;
      case 'write': {
        const limit = Number.isFinite(step.size) ? step.size : null;
        const outcome = await this.#write({ path: step.path, format: 'raw', perSecond: null, limit, onFull: 'end' });
        if (outcome.error !== null) await this.#print('stderr', `dd: error writing '${step.path}': ${outcome.error}`);
        return null;
      }
      case 'print':
        await this.#print('stdout', step.text);
        return null;
      case 'trap':
        this.#onTerm = step.onTerm;
        return null;
      case 'exit':
        return step.code;
      case 'forever':
        return this.#loop(step.body);
      case 'nothing':
        return null;
      case 'unknown':
        await this.#print('stderr', `sh: ${step.name}: not found`);
        return 127;
    }
  }

  async #loop(body: readonly Step[]): Promise<number | null> {
    while (!this.#stopping.signal.aborted) {
      const code = await this.#runSteps(body);
      if (code !== null) return code;
      // A loop without a wait in it must leave the event loop to others.
      await pause(1, this.#stopping.signal);
    }
    return KILLED;
  }

  async #write(order: Omit<WriteOrder, 'budget'>): Promise<{ readonly error: string | null }> {
    const { path, disk } = this.#surroundings.locate(order.path);
    this.#writer = this.#surroundings.writers.start({ ...order, path, budget: disk?.budget ?? null });
    const outcome = await this.#writer.ended;
    this.#writer = null;
    return outcome;
  }

  /** One line in the format of CRI container logs; on a full disk it is dropped, as containerd does. */
  async #print(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    const path = this.#surroundings.logPath;
    if (path === null) return;
    const line = `${new Date(this.#surroundings.now()).toISOString().replace('Z', '000000Z')} ${stream} F ${text}\n`;
    try {
      // Kept open, so that lines go on into a file that was renamed until the log is opened again.
      this.#log ??= await openLog(path);
      await this.#log.appendFile(line);
    } catch (error) {
      if (!isNoSpace(error)) throw error;
    }
  }

  async #closeLog(): Promise<void> {
    const log = this.#log;
    this.#log = null;
    await log?.close();
  }
}

async function openLog(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true });
  return open(path, 'a', 0o640);
}
