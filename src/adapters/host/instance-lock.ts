import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { PortError } from '../../ports/port-error.js';

/** Who holds the lock. */
export interface InstanceHolder {
  readonly pid: number;
  /** When it started, in ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
}

export type InstanceLock =
  | { readonly kind: 'acquired'; release(): Promise<void> }
  /** `by` is null when the holder does not say who it is (stopped, or not one of us). */
  | { readonly kind: 'held'; readonly by: InstanceHolder | null };

const ANSWER_TIMEOUT_MS = 1_000;
const MAX_ANSWER = 4_096;
/** The holder may end between our try to bind and our question. */
const ATTEMPTS = 3;

/**
 * Sees to it that one daemon works on a container runtime: two would each free the whole amount, and the second half of the
 * evictions would be for nothing. The lock is a unix socket in the abstract namespace: it takes no room on any disk, leaves no
 * stale file, and the kernel drops it with its holder, however that ends. It holds within one network namespace.
 *
 * The name comes from the real path of the runtime's socket, not from its inode: a runtime that restarts makes a new socket
 * and must not thereby let in a second daemon. Rejects with a `PortError` when no socket can be bound at all.
 */
export async function acquireInstanceLock(socketPath: string, self: InstanceHolder): Promise<InstanceLock> {
  const name = `\0reclaimd/${createHash('sha256')
    .update(await realPathOf(socketPath))
    .digest('hex')}`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const server = await bind(name, self);
    if (server !== null) return { kind: 'acquired', release: () => new Promise((done) => server.close(() => done())) };
    const answer = await askHolder(name);
    if (answer !== 'gone') return { kind: 'held', by: answer };
  }
  return { kind: 'held', by: null };
}

/** Null when somebody else has the name. */
function bind(name: string, self: InstanceHolder): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => {
      // Whoever asks and goes away is no concern of ours.
      connection.on('error', () => connection.destroy());
      connection.setTimeout(ANSWER_TIMEOUT_MS, () => connection.destroy());
      connection.unref();
      connection.end(`${JSON.stringify(self)}\n`);
    });
    server.maxConnections = 16;
    server.unref();
    server.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EADDRINUSE') resolve(null);
      else
        reject(new PortError('Cannot take the instance lock as an abstract unix socket must be bindable', { cause }));
    });
    server.listen(name, () => {
      // Before libuv 1.46 the name was cut off at its leading NUL, and all daemons of a node would share one lock.
      if (server.address() === name) resolve(server);
      else
        reject(
          new PortError(`Cannot take the instance lock as Node must know abstract unix sockets: ${process.version}`),
        );
    });
  });
}

function askHolder(name: string): Promise<InstanceHolder | null | 'gone'> {
  return new Promise((resolve) => {
    const socket = connect(name);
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_ANSWER) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'gone' : null));
    socket.on('close', () => resolve(parseHolder(text)));
  });
}

function parseHolder(text: string): InstanceHolder | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { pid, startedAt, version } = value as Partial<Record<keyof InstanceHolder, unknown>>; // each is checked below
    if (typeof pid !== 'number' || typeof startedAt !== 'string' || typeof version !== 'string') return null;
    return { pid, startedAt, version };
  } catch {
    return null;
  }
}

/** The socket need not exist yet: the runtime may be down. Then the nearest directory that exists is made real. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    const parent = dirname(path);
    const { code } = cause as NodeJS.ErrnoException; // node:fs rejects with nothing else
    if (parent === path || code !== 'ENOENT') {
      throw new PortError(`Cannot take the instance lock as the runtime's socket must have a real path: ${path}`, {
        cause,
      });
    }
    return join(await realPathOf(parent), basename(path));
  }
}
