import type { GcEvent } from '../gc/gc-event.js';
import type { LogLimits } from '../gc/log-limits.js';
import {
  compressedNames,
  logStamp,
  logsInReadingOrder,
  planRotation,
  rotatedName,
  rotatedSiblings,
} from '../gc/plan-rotation.js';
import { UniqueQueue } from '../gc/unique-queue.js';
import type { Clock } from '../ports/clock.js';
import type { FilesPort } from '../ports/files.js';
import type { LogFilesPort, LogReopener } from '../ports/log-files.js';
import { PortError } from '../ports/port-error.js';
import type { RuntimePort } from '../ports/runtime.js';
import type { Milliseconds } from '../units/units.js';
import { messageOf, toError } from './removal.js';

/** What log rotation needs from the world. */
export interface LogRotationDeps {
  readonly runtime: Pick<RuntimePort, 'listContainers' | 'containerStatus'> & LogReopener;
  readonly logFiles: LogFilesPort;
  readonly files: Pick<FilesPort, 'removeLogs'>;
  readonly clock: Clock;
  readonly limits: LogLimits;
  readonly podLogsDir: string;
  /** Rotations under way at a time; at least 1. */
  readonly workers: number;
}

/**
 * Rotates the logs of running containers and removes those of dead ones, never both for one container at a time. Mirrors the
 * kubelet's container log manager, except that no rotated file takes the name of another.
 */
export class LogRotation {
  readonly #deps: LogRotationDeps;
  readonly #queue = new UniqueQueue();
  /** The end of what is under way, by container. */
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(deps: LogRotationDeps) {
    this.#deps = deps;
  }

  /** Monitor passes one after the other, `pause` apart, until `signal` aborts. */
  async *run(pause: Milliseconds, signal: AbortSignal): AsyncGenerator<GcEvent, void> {
    while (!signal.aborted) {
      yield* this.pass(signal);
      await this.#deps.clock.sleep(pause, signal);
    }
  }

  /** One monitor pass: asks for all running containers, and works the queue off. Answers with what failed the list, or null. */
  async *pass(signal: AbortSignal): AsyncGenerator<GcEvent, Error | null> {
    const { runtime, clock, workers } = this.#deps;
    const containers = await runtime.listContainers(signal).catch(toError);
    if (containers instanceof Error) {
      yield { kind: 'gc-step-failed', at: clock.now(), step: 'log rotation', message: messageOf(containers) };
      return containers;
    }
    // One that has ended writes nothing any more.
    for (const each of containers) if (each.state === 'running') this.#queue.add(each.id);
    const events: GcEvent[] = [];
    await Promise.all(Array.from({ length: Math.max(1, workers) }, () => this.#work(events, signal)));
    yield* events;
    return null;
  }

  /** Removes all log files of a container. Rejects when its status cannot be read or a file stays. */
  async clean(id: string, signal: AbortSignal): Promise<void> {
    await this.#alone(id, async () => {
      const status = await this.#deps.runtime.containerStatus(id, signal);
      if (status === null) throw new PortError(`Cannot remove the log of a container as it must still be there: ${id}`);
      if (status.logPath !== '') await this.#deps.files.removeLogs(this.#deps.podLogsDir, status.logPath);
    });
  }

  /** The files of a log that hold lines, oldest first, as paths. */
  async logsOf(path: string): Promise<readonly string[]> {
    const { directory, name } = splitPath(path);
    const names = (await this.#deps.logFiles.list(directory)) ?? [];
    return logsInReadingOrder(name, names).map((each) => `${directory}/${each}`);
  }

  async #work(events: GcEvent[], signal: AbortSignal): Promise<void> {
    for (let id = this.#queue.take(); id !== null && !signal.aborted; id = this.#queue.take()) {
      const container = id;
      const event = await this.#alone(container, () => this.#attend(container, signal)).catch(toError);
      this.#queue.done(container);
      if (event instanceof Error) {
        events.push({ kind: 'log-not-rotated', at: this.#deps.clock.now(), container, message: messageOf(event) });
      } else if (event !== null) events.push(event);
    }
  }

  /** One container: its log is reopened where it is missing, and rotated where it is too large. Null = nothing was to do. */
  async #attend(id: string, signal: AbortSignal): Promise<GcEvent | null> {
    const { runtime, logFiles, limits, clock } = this.#deps;
    const status = await runtime.containerStatus(id, signal);
    if (status === null) throw new PortError(`Cannot rotate the log of a container as its status must be known: ${id}`);
    const path = status.logPath;
    if (path === '') return null;
    let size = await logFiles.size(path);
    if (size === null) {
      await runtime.reopenContainerLog(id, signal);
      size = await logFiles.size(path);
      if (size === null) throw new PortError(`Cannot rotate a log as it must be there after its reopening: ${path}`);
    }
    if (size < limits.maxSizeBytes) return null;
    const rotatedTo = await rotateLog(this.#deps, id, path, signal);
    return { kind: 'log-rotated', at: clock.now(), container: id, path, rotatedTo };
  }

  /** Runs `action` when nothing else is under way for the container. */
  #alone<T>(id: string, action: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(id) ?? Promise.resolve();
    const mine = before.then(action, action);
    const ended = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#busy.set(id, ended);
    void ended.then(() => {
      if (this.#busy.get(id) === ended) this.#busy.delete(id);
    });
    return mine;
  }
}

/** What one rotation needs. */
export type RotateDeps = Pick<LogRotationDeps, 'logFiles' | 'clock' | 'limits'> & { readonly runtime: LogReopener };

/** Rotates one log: clean-up, compression of what is left, then the current file. Rejects with the first failure. */
export async function rotateLog(deps: RotateDeps, id: string, path: string, signal: AbortSignal): Promise<string> {
  const { directory, name } = splitPath(path);
  const names = (await deps.logFiles.list(directory)) ?? [];
  const siblings = rotatedSiblings(name, names);
  const plan = planRotation(siblings, deps.limits.maxFiles);
  for (const each of [...plan.unused, ...plan.excess]) await deps.logFiles.remove(`${directory}/${each}`);
  for (const each of plan.toCompress) await compressLog(deps.logFiles, `${directory}/${each}`);
  return rotateCurrent(deps, id, path, plan.kept, signal);
}

/** Replaces a rotated file by its compressed copy. After a failure the original is still there. */
export async function compressLog(logFiles: LogFilesPort, path: string): Promise<void> {
  const { compressed, temporary } = compressedNames(path);
  try {
    await logFiles.compress(path, temporary);
    await logFiles.rename(temporary, compressed);
  } catch (error) {
    // The next rotation removes it as well; that this did not work is not what there is to say.
    await logFiles.remove(temporary).catch(toError);
    throw error;
  }
  await logFiles.remove(path);
}

/**
 * Gives the current log its rotated name and has the runtime open a new one. When that fails the name is given back, since the
 * runtime goes on writing into the file; not where a new file shows that it was opened. `siblings` are the log's rotated files. Answers with the path of the rotated file.
 */
export async function rotateCurrent(
  deps: RotateDeps,
  id: string,
  path: string,
  siblings: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { directory, name } = splitPath(path);
  const rotatedTo = `${directory}/${rotatedName(name, logStamp(deps.clock.wall()), siblings)}`;
  await deps.logFiles.rename(path, rotatedTo);
  try {
    await deps.runtime.reopenContainerLog(id, signal);
  } catch (error) {
    // A call that broke off may have been carried out: then there is a new file, and the old name would hide it from everybody.
    const reopened = await deps.logFiles.size(path).catch(toError);
    if (typeof reopened === 'number') throw error;
    const back = await deps.logFiles.rename(rotatedTo, path).then(() => null, toError);
    if (back === null) throw error;
    const what = `${messageOf(error)}; its name could not be given back either, lines go to ${rotatedTo}`;
    throw new PortError(`Cannot rotate ${path}: ${what}: ${messageOf(back)}`, { cause: error });
  }
  return rotatedTo;
}

function splitPath(path: string): { readonly directory: string; readonly name: string } {
  const slash = path.lastIndexOf('/');
  return { directory: path.slice(0, Math.max(slash, 1)), name: path.slice(slash + 1) };
}
