import { normalize } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FilesPort, TreeUsage } from '../../ports/files.js';
import { PortError } from '../../ports/port-error.js';
import { bytes, count } from '../../units/units.js';
import type { FilesJob, FilesRequest, FilesResponse } from './files-protocol.js';

/** The real `FilesPort`. Dispose ends its thread; jobs under way are rejected. */
export interface HostFiles extends FilesPort, AsyncDisposable {}

/** Jobs that wait for the one worker; beyond them something is wrong with the disk, and more of them would not help. */
const MAX_JOBS = 1_024;

type Answer = Exclude<FilesResponse, { kind: 'failed' }>;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Walks and removes trees in one worker thread, which is started by the first job and does not keep the process alive. */
export function hostFiles(): HostFiles {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let nextId = 0;
  let closed = false;

  const failAll = (reason: string, cause?: unknown) => {
    worker = null;
    for (const { reject } of waiting.values()) reject(new PortError(`Cannot walk files as ${reason}`, { cause }));
    waiting.clear();
  };

  const started = (): Worker => {
    if (worker !== null) return worker;
    const fresh = new Worker(new URL('./files-worker.js', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    fresh.on('message', (response: FilesResponse) => {
      const { resolve, reject } = waiting.get(response.id) ?? {};
      waiting.delete(response.id);
      if (response.kind === 'failed') reject?.(new PortError(response.message));
      else resolve?.(response);
      if (waiting.size === 0) fresh.unref();
    });
    fresh.on('error', (error) => {
      if (worker === fresh) failAll('its thread failed', error);
    });
    fresh.on('exit', (code) => {
      if (worker === fresh) failAll(`its thread ended: ${code}`);
    });
    worker = fresh;
    return fresh;
  };

  const run = (job: FilesJob, signal?: AbortSignal): Promise<Answer> => {
    signal?.throwIfAborted();
    if (closed) throw new PortError('Cannot walk files as the adapter must be open');
    if (waiting.size >= MAX_JOBS) throw new PortError(`Cannot walk files as at most ${MAX_JOBS} jobs may wait`);
    const id = nextId++;
    const stop = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    return new Promise((resolve, reject) => {
      const abort = () => {
        Atomics.store(new Int32Array(stop), 0, 1);
        waiting.delete(id);
        if (waiting.size === 0) worker?.unref();
        // Whoever aborted says why; an abort reason is an Error unless the caller chose otherwise.
        reject(signal?.reason instanceof Error ? signal.reason : new PortError('Cannot walk files as it was aborted'));
      };
      const settled = () => signal?.removeEventListener('abort', abort);
      waiting.set(id, {
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      signal?.addEventListener('abort', abort, { once: true });
      const thread = started();
      // A job that somebody waits for gets done before the process ends of itself.
      thread.ref();
      thread.postMessage({ id, job, stop } satisfies FilesRequest);
    });
  };

  return {
    async usage(path, maxEntries, signal, within): Promise<TreeUsage | null> {
      const until = within === undefined ? null : process.hrtime.bigint() + BigInt(Math.round(within * 1e6));
      const answer = await run({ kind: 'usage', path: absolute(path), maxEntries, until }, signal);
      if (answer.kind !== 'usage' || answer.usage === null) return null;
      const { bytes: size, inodes, complete } = answer.usage;
      return { bytes: bytes(size), inodes: count(inodes), complete };
    },

    async removeTree(root, name) {
      if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
        throw new PortError(`Cannot remove a tree as its name must be a plain one: ${JSON.stringify(name)}`);
      }
      await run({ kind: 'remove', root: absolute(root), name });
    },

    async removeLogs(root, logPath) {
      const [top, log] = [absolute(root), absolute(logPath)];
      const prefix = top === '/' ? '/' : `${top}/`;
      if (!log.startsWith(prefix) || log === prefix) {
        throw new PortError(`Cannot remove a log as it must lie under ${top}: ${logPath}`);
      }
      await run({ kind: 'logs', root: top, path: log.slice(prefix.length) });
    },

    async [Symbol.asyncDispose]() {
      closed = true;
      const thread = worker;
      failAll('the adapter was closed');
      // Not awaited by the caller's exit: a thread in a call that hangs cannot be stopped.
      void thread?.terminate();
    },
  };
}

function absolute(path: string): string {
  if (!path.startsWith('/') || path.includes('\0')) {
    throw new PortError(`Cannot walk files as the path must be absolute: ${JSON.stringify(path)}`);
  }
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}
