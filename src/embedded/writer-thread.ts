import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { spendFrom } from './accounted-disk.js';

/** What a writer does. */
export interface WriterOrder {
  readonly id: number;
  /** The file to write; for files, the directory to fill. */
  readonly path: string;
  /** `raw` bytes, lines of a container `log`, or one-byte `files`. */
  readonly format: 'raw' | 'log' | 'files';
  /** Bytes (or files) each second; null as fast as it goes. */
  readonly perSecond: number | null;
  /** Ends after that many bytes (or files); null never. */
  readonly limit: number | null;
  /** `end` at a full disk, as dd does, or `stubborn`: tries for ever, as a service does. */
  readonly onFull: 'end' | 'stubborn';
  readonly budget: SharedArrayBuffer | null;
}

/** What the thread is told. */
export type ToWriters =
  | { readonly kind: 'start'; readonly order: WriterOrder }
  | { readonly kind: 'rate'; readonly id: number; readonly perSecond: number | null }
  | { readonly kind: 'reopen'; readonly id: number }
  | { readonly kind: 'stop'; readonly id: number };

/** What the thread tells: a writer that came to its end (with the code of the error, if it was one), or was told to do so. */
export interface FromWriters {
  readonly kind: 'ended' | 'stopped' | 'reopened';
  readonly id: number;
  readonly written: number;
  readonly error: string | null;
}

interface Writer {
  order: WriterOrder;
  file: number | null;
  /** Since when, and from which amount on, the rate counts. */
  since: number;
  base: number;
  written: number;
  fullUntil: number;
}

const TICK_MS = 5;
const CHUNK = 1024 * 1024;
/** At most that much for one writer in one tick, so that the others get their turn. */
const TURN = 8 * CHUNK;
const TURN_FILES = 256;
/** How long a stubborn writer rests after a full disk. */
const FULL_REST_MS = 20;

const RAW = Buffer.alloc(CHUNK, 'reclaimd embedded writer ');
const LINE_TEXT = 'x'.repeat(160);

const writers = new Map<number, Writer>();
let ticking: NodeJS.Timeout | null = null;

// The file is a thread's main and also names the messages' types, so it must do nothing when it is not the thread.
if (parentPort !== null && workerData === 'reclaimd-embedded-writers') listen(parentPort);

function listen(port: MessagePort): void {
  port.on('message', (message: ToWriters) => {
    if (message.kind === 'start') {
      writers.set(message.order.id, {
        order: message.order,
        file: null,
        since: performance.now(),
        base: 0,
        written: 0,
        fullUntil: 0,
      });
      ticking ??= setInterval(() => tick(port), TICK_MS);
      return;
    }
    const writer = writers.get(message.id);
    if (message.kind === 'stop') end(port, message.id, 'stopped', null);
    else if (writer !== undefined && message.kind === 'rate') {
      Object.assign(writer, {
        order: { ...writer.order, perSecond: message.perSecond },
        since: performance.now(),
        base: writer.written,
      });
    } else if (message.kind === 'reopen') {
      if (writer !== undefined) close(writer);
      port.postMessage({
        kind: 'reopened',
        id: message.id,
        written: writer?.written ?? 0,
        error: null,
      } satisfies FromWriters);
    }
  });
}

function tick(port: MessagePort): void {
  const now = performance.now();
  for (const writer of writers.values()) {
    if (now < writer.fullUntil) continue;
    try {
      write(writer, now);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      if (code !== 'ENOSPC' || writer.order.onFull === 'end') {
        end(port, writer.order.id, 'ended', code);
        continue;
      }
      // What could not be written is not owed later: a service drops it.
      writer.since = now;
      writer.base = writer.written;
      writer.fullUntil = now + FULL_REST_MS;
    }
    if (writer.order.limit !== null && writer.written >= writer.order.limit) end(port, writer.order.id, 'ended', null);
  }
}

function write(writer: Writer, now: number): void {
  const { perSecond, limit, format } = writer.order;
  const allowed = perSecond === null ? Infinity : writer.base + ((now - writer.since) / 1000) * perSecond;
  const until = Math.min(allowed, limit ?? Infinity, writer.written + (format === 'files' ? TURN_FILES : TURN));
  while (writer.written < until) {
    const room = Math.floor(until - writer.written);
    if (room < 1) return;
    if (format === 'files') writeFile(writer);
    else writeBytes(writer, room);
  }
}

function writeBytes(writer: Writer, room: number): void {
  writer.file ??= open(writer.order.path);
  const chunk =
    writer.order.format === 'log' ? logLines(Math.min(room, CHUNK)) : RAW.subarray(0, Math.min(room, CHUNK));
  spend(writer, chunk.length);
  // A disk that is nearly full takes a part; the next turn then says ENOSPC.
  writer.written += writeSync(writer.file, chunk);
}

function writeFile(writer: Writer): void {
  spend(writer, 4096);
  const file = open(join(writer.order.path, `file-${writer.written}`));
  try {
    writeSync(file, 'x');
  } finally {
    closeSync(file);
  }
  writer.written += 1;
}

function spend(writer: Writer, size: number): void {
  if (writer.order.budget !== null) spendFrom(new BigInt64Array(writer.order.budget), size);
}

/** Whole lines in the format of CRI container logs, at least one. */
function logLines(size: number): Buffer {
  const line = `${new Date().toISOString().replace('Z', '000000Z')} stdout F ${LINE_TEXT}\n`;
  return Buffer.from(line.repeat(Math.max(1, Math.floor(size / line.length))));
}

function open(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  return openSync(path, 'a', 0o640);
}

function close(writer: Writer): void {
  if (writer.file !== null) closeSync(writer.file);
  writer.file = null;
}

function end(port: MessagePort, id: number, kind: 'ended' | 'stopped', error: string | null): void {
  const writer = writers.get(id);
  if (writer !== undefined) close(writer);
  writers.delete(id);
  if (writers.size === 0 && ticking !== null) {
    clearInterval(ticking);
    ticking = null;
  }
  port.postMessage({ kind, id, written: writer?.written ?? 0, error } satisfies FromWriters);
}
