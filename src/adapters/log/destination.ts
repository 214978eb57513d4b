import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { PortError } from '../../ports/port-error.js';

/** Where log lines go. Nothing here throws or waits, whatever the disk, the pipe or the reader does. */
export interface LogDestination extends Disposable {
  /** Takes whole lines, each with its newline. */
  write(lines: string): void;
  /** Opens the file again under its name, after it was renamed. Null, or why the old one is kept. */
  reopen(): PortError | null;
  /** Lines lost so far, and bytes that wait for room. */
  state(): { readonly lost: number; readonly waiting: number };
  readonly isTTY: boolean;
}

export interface LogDestinationOptions {
  /** A file to append to, or a descriptor that is open already. */
  readonly target: { readonly path: string } | { readonly fd: number };
  /** Bytes of whole lines that may wait while nothing can be written; the oldest go first. A half written one comes on top. */
  readonly maxWaiting?: number;
  /** How often to try again when no line comes along to do it. */
  readonly retryMs?: number;
  /** The line that says how many were lost. */
  readonly lostLine?: (lost: number) => string;
  /** The write(2) that is used; returns the bytes written, throws what it throws. */
  readonly writeTo?: (fd: number, data: Uint8Array, offset: number) => number;
}

const MAX_WAITING = 1024 * 1024;
const RETRY_MS = 250;
/** 100 lines in one go are a few ms at most; the rest follows at the next turn. */
const BATCH = 256;

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Makes a destination for pino. Lines that cannot be written (full disk, slow reader, reader gone) wait in a bounded queue and
 * follow as soon as writing works again, each once and whole; when the queue is full the oldest are dropped, counted, and the
 * count is written in their place. A line that was half written is completed, or cut off with a newline when its file is left.
 *
 * Opening a file that does not exist or cannot be opened throws a `PortError`: that is a mistake of configuration.
 */
export function logDestination(options: LogDestinationOptions): LogDestination {
  const { target, maxWaiting = MAX_WAITING, retryMs = RETRY_MS, lostLine = lostLineOf, writeTo = writeAt } = options;
  let output = 'path' in target ? openFile(target.path) : openDescriptor(target.fd);
  const isTTY = 'fd' in target && isatty(target.fd);

  const queue: Uint8Array[] = [];
  /** Bytes in the queue. */
  let queued = 0;
  /** The line that is half written; it is completed before anything else, and never dropped. */
  let torn: Outgoing | null = null;
  let lost = 0;
  /** Of these, how many no line has told of yet. */
  let unsaid = 0;
  let timer: NodeJS.Timeout | null = null;

  const next = (): Outgoing | null => {
    if (torn !== null) return torn;
    // The count is put into words only when it is about to be written, so that it cannot be outdated or lost itself.
    if (unsaid > 0) return { line: encode(lostLine(unsaid)), written: 0, says: unsaid };
    const [line] = queue;
    return line === undefined ? null : { line, written: 0, says: 0 };
  };

  /** Writes one line as far as it goes; false when it does not go any further now. */
  const send = (outgoing: Outgoing): boolean => {
    try {
      while (outgoing.written < outgoing.line.length) {
        const taken = writeTo(output.fd, outgoing.line, outgoing.written);
        if (taken === 0) return false;
        if (outgoing !== torn) take(outgoing);
        outgoing.written += taken;
      }
    } catch {
      // ENOSPC, EDQUOT, EAGAIN, EPIPE, EIO: whatever it is, it cannot be logged. The line waits and is counted if it is lost.
      return false;
    }
    torn = null;
    return true;
  };

  /** From its first byte on a line is no longer in the queue, nor its loss untold. */
  const take = (outgoing: Outgoing) => {
    torn = outgoing;
    if (outgoing.says > 0) unsaid -= outgoing.says;
    else queued -= queue.shift()?.length ?? 0;
  };

  /** False when some lines still wait. */
  const drain = (): boolean => {
    for (let budget = BATCH; budget > 0; budget -= 1) {
      const outgoing = next();
      if (outgoing === null) return true;
      if (!send(outgoing)) return false;
    }
    return next() === null;
  };

  const retryLater = () => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      if (!drain()) retryLater();
    }, retryMs);
    timer.unref();
  };

  const write = (lines: string) => {
    const line = encode(lines);
    queue.push(line);
    queued += line.length;
    if (drain()) return;
    retryLater();
    while (queued > maxWaiting) {
      queued -= queue.shift()?.length ?? 0;
      lost += 1;
      unsaid += 1;
    }
  };

  return {
    write,
    isTTY,
    state: () => ({ lost, waiting: queued + (torn === null ? 0 : torn.line.length - torn.written) }),
    reopen() {
      if (!('path' in target)) return null;
      try {
        const fresh = openFile(target.path);
        // The torn line stays torn in the old file; the new one gets it whole.
        if (torn !== null) torn.written = 0;
        closeQuietly(output.fd);
        output = fresh;
      } catch (error) {
        return error instanceof PortError ? error : new PortError('Cannot open the log file again', { cause: error });
      }
      if (!drain()) retryLater();
      return null;
    },
    [Symbol.dispose]() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      // One try: an end that waits for room on a full disk would never come.
      drain();
      if (output.owned) closeQuietly(output.fd);
    },
  };
}

interface Outgoing {
  readonly line: Uint8Array;
  written: number;
  /** How many lost lines this line tells of; 0 for an ordinary one. */
  readonly says: number;
}

interface Output {
  readonly fd: number;
  readonly owned: boolean;
}

function openFile(path: string): Output {
  try {
    // O_NONBLOCK means nothing for a file, but the path may be a FIFO that nobody reads.
    return { fd: openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o640), owned: true };
  } catch (cause) {
    throw new PortError(`Cannot log to ${path} as it must be writable`, { cause });
  }
}

/**
 * A descriptor that we were given blocks when its reader is slow, and to make it non-blocking would do so for everybody who
 * shares it. Pipes, terminals and files are therefore opened anew through procfs. A socket (journald) cannot be; there
 * libuv sets the flag, on the socket that the service manager made for us alone.
 */
function openDescriptor(fd: number): Output {
  const kind = fstatSync(fd);
  if (kind.isSocket()) {
    new Socket({ fd, readable: false, writable: true }).unref().on('error', () => undefined);
    return { fd, owned: false };
  }
  // Writing to a file never waits for a reader, and a second opening would have its own place in it: whoever else writes to
  // the same output would write over our lines.
  if (kind.isFile()) return { fd, owned: false };
  try {
    return { fd: openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY), owned: true };
  } catch {
    // No procfs, or a terminal of another user: rather a descriptor that may block than none.
    return { fd, owned: false };
  }
}

function writeAt(fd: number, data: Uint8Array, offset: number): number {
  return writeSync(fd, data, offset);
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // A late ENOSPC of a network filesystem; there is nowhere to say it.
  }
}

function encode(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

function lostLineOf(lost: number): string {
  return `${JSON.stringify({ level: 'warn', msg: `${lost} log lines were lost as they could not be written`, lost })}\n`;
}
