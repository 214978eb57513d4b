import { Worker } from 'node:worker_threads';
import type { StoredValue } from '../../eviction/stored-value.js';
import { PortError } from '../../ports/port-error.js';
import {
  SHELVES,
  type Shelf,
  type StoreChange,
  type Stored,
  type StoreNews,
  type StorePort,
} from '../../ports/store.js';
import type { BegunAnew, EntryText, FileChoice, StoreRequest, StoreResponse } from './store-protocol.js';

/** The real `StorePort`. Dispose writes what waits, but does not wait long for it. */
export interface FileStore extends StorePort, AsyncDisposable {}

/** Where the state lies, and how it is written. */
export interface FileStoreOptions extends FileChoice {
  /**
   * Takes the file for this process: two that write one file would each forget what the other knows. Answers with why it cannot be had,
   * or null. Asked once, before anything is opened.
   */
  readonly hold?: () => Promise<string | null>;
  /** Between two writes, in milliseconds. */
  readonly writeEveryMs?: number;
  /** Between two tries while nothing can be written. */
  readonly retryEveryMs?: number;
}

const WRITE_EVERY_MS = 1_000;
const RETRY_EVERY_MS = 10_000;
/** The end of the daemon waits so long for the last write. */
const LAST_WRITE_WITHIN_MS = 3_000;
/** Entries that may wait for room; beyond them all are dropped and asked for anew when there is some. */
const MAX_WAITING = 50_000;

/**
 * Keeps the store in a file. A thread of its own does what blocks; here nothing ever does. Changes wait here, by entry, so that what
 * cannot be written takes no more memory than the newest of it; the thread has one batch at a time.
 */
export function fileStore(options: FileStoreOptions): FileStore {
  const { path, readOnly, writeEveryMs = WRITE_EVERY_MS, retryEveryMs = RETRY_EVERY_MS } = options;
  const news: StoreNews[] = [];
  let waiting = new Map<string, EntryText>();
  /** What the thread is writing; null = it is idle. */
  let underWay: Map<string, EntryText> | null = null;
  let worker: Worker | null = null;
  let answered: ((response: StoreResponse) => void) | null = null;
  /** Null while it is not known. */
  let isUsable: boolean | null = null;
  let isFailing = false;
  let mustBeginAnew = false;
  let nextWriteAt = 0;
  /** Whether something waits that is not to wait for its second. */
  let isUrgent = false;
  let timer: NodeJS.Timeout | null = null;
  let closing: (() => void) | null = null;

  const lost = (why: string) => {
    worker = null;
    answered?.({ kind: 'failed', message: `Cannot use the state file ${path} as ${why}`, isFull: false });
  };

  const ask = (request: StoreRequest): Promise<StoreResponse> =>
    new Promise((resolve) => {
      answered = (response) => {
        answered = null;
        worker?.unref();
        resolve(response);
      };
      worker ??= started();
      // What was saved is waited for; a write is not, and at the end of the daemon its own time limit keeps it going.
      if (request.kind === 'open') worker.ref();
      worker.postMessage(request);
    });

  function started(): Worker {
    const choice: FileChoice = { path, readOnly };
    const fresh = new Worker(new URL('./store-worker.js', import.meta.url), {
      workerData: choice,
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    fresh.on('message', (response: StoreResponse) => answered?.(response));
    fresh.on('error', (error) => {
      if (worker === fresh) lost(`its thread failed: ${error.message}`);
    });
    fresh.on('exit', (code) => {
      if (worker === fresh) lost(`its thread ended: ${code}`);
    });
    // What waits here is written at the end of the daemon, which asks for it; nothing else keeps the process alive.
    fresh.unref();
    return fresh;
  }

  const tellAnew = (begunAnew: BegunAnew | null) => {
    if (begunAnew !== null) news.push({ kind: 'begun-anew', ...begunAnew });
  };

  async function write(): Promise<void> {
    if (underWay !== null || waiting.size === 0 || isUsable !== true || readOnly) return;
    underWay = waiting;
    waiting = new Map();
    isUrgent = false;
    const anew = mustBeginAnew;
    const response = await ask({ kind: 'write', entries: [...underWay.values()], anew });
    const sent = underWay;
    underWay = null;
    nextWriteAt = performance.now() + writeEveryMs;
    if (response.kind === 'written') {
      if (anew) mustBeginAnew = false;
      if (isFailing) news.push({ kind: 'writing-again' });
      isFailing = false;
      tellAnew(response.begunAnew);
    } else if (response.kind === 'failed') {
      nextWriteAt = performance.now() + retryEveryMs;
      // What came meanwhile is newer.
      waiting = new Map([...sent, ...waiting]);
      limit();
      if (!isFailing) news.push({ kind: 'not-writing', message: response.message, isFull: response.isFull });
      isFailing = true;
    }
    closing?.();
    schedule();
  }

  function schedule(): void {
    if (timer !== null || underWay !== null || waiting.size === 0 || isUsable !== true || readOnly) return;
    timer = setTimeout(
      () => {
        timer = null;
        void write();
      },
      // While nothing can be written, haste does not help.
      isUrgent && !isFailing ? 0 : Math.max(0, nextWriteAt - performance.now()),
    );
    timer.unref();
  }

  function limit(): void {
    if (waiting.size <= MAX_WAITING) return;
    waiting.clear();
    mustBeginAnew = true;
    tellAnew({ message: `more than ${MAX_WAITING} entries wait for ${path}`, renamedTo: null });
  }

  async function open(): Promise<Stored> {
    const held = (await options.hold?.()) ?? null;
    const response: StoreResponse =
      held === null ? await ask({ kind: 'open' }) : { kind: 'failed', message: held, isFull: false };
    if (response.kind !== 'opened') {
      isUsable = false;
      waiting.clear();
      throw new PortError(response.kind === 'failed' ? response.message : `Cannot use the state file ${path}`);
    }
    isUsable = true;
    tellAnew(response.begunAnew);
    schedule();
    return storedOf(response.entries);
  }

  let loading: Promise<Stored> | null = null;
  return {
    load() {
      loading ??= open();
      return loading;
    },

    save(changes, when) {
      if (isUsable === false || readOnly) return;
      for (const change of changes) waiting.set(`${change.shelf}\n${change.key}`, entryText(change));
      limit();
      if (when === 'now') {
        isUrgent = true;
        if (timer !== null) clearTimeout(timer);
        timer = null;
      }
      schedule();
    },

    takeNews: () => news.splice(0),

    async [Symbol.asyncDispose]() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      const deadline = performance.now() + LAST_WRITE_WITHIN_MS;
      while (
        isUsable === true &&
        !readOnly &&
        (underWay !== null || waiting.size > 0) &&
        performance.now() < deadline
      ) {
        const wasFailing = isFailing;
        await within(deadline, underWay === null ? write() : whenAnswered());
        if (isFailing && wasFailing) break;
      }
      isUsable = false;
      const thread = worker;
      worker = null;
      if (thread === null) return;
      if (underWay === null) thread.postMessage({ kind: 'close' } satisfies StoreRequest);
      // A thread in a call that hangs cannot be stopped, and is not waited for.
      else void thread.terminate();
    },
  };

  function whenAnswered(): Promise<void> {
    return new Promise((resolve) => {
      closing = () => {
        closing = null;
        resolve();
      };
    });
  }
}

function entryText({ shelf, key, value }: StoreChange): EntryText {
  return [shelf, key, value === undefined ? null : JSON.stringify(value)];
}

function storedOf(entries: readonly EntryText[]): Stored {
  const shelves: Record<Shelf, Map<string, StoredValue>> = {
    manager: new Map(),
    images: new Map(),
    'removed-images': new Map(),
  };
  for (const [shelf, key, text] of entries) {
    if (!SHELVES.includes(shelf) || text === null) continue;
    // Text that is no JSON is as good as an entry that is not understood: whoever reads it says so.
    shelves[shelf].set(key, parsed(text));
  }
  return shelves;
}

function parsed(text: string): StoredValue {
  try {
    return JSON.parse(text) as StoredValue; // what JSON holds
  } catch {
    return text;
  }
}

function within(deadline: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
