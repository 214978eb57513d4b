import { chmod, lstat, mkdtemp, rename, rm, rmdir } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname, join } from 'node:path';
import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Door } from './faults.js';

/** A service to answer with. */
export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/** Longest path that fits into the address of a unix socket, without its ending zero. */
const LONGEST_SOCKET_PATH = 107;

/** The server behind the socket: it can be shut without a word and opened again at the same path. */
export class SocketServer implements Door {
  readonly #path: string;
  readonly #services: () => readonly ServedService[];
  #server: Server | null = null;

  constructor(path: string, services: () => readonly ServedService[]) {
    this.#path = path;
    this.#services = services;
  }

  /** Listens. @throws Error when another process answers on the socket, or the path does not fit into an address */
  async open(): Promise<void> {
    if (this.#server !== null) return;
    await removeStaleSocket(this.#path);
    const server = new Server();
    for (const { definition, implementation } of this.#services()) server.addService(definition, implementation);
    await bindPrivately(server, this.#path);
    this.#server = server;
  }

  /** Drops every connection and goes away, as a killed process does. */
  async shut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    server?.forceShutdown();
    if (server !== null) await rm(this.#path, { force: true });
  }
}

/**
 * Binds so that nobody but this user can ever connect. The socket is made in a directory that is closed to others and
 * takes its place by a rename: setting the process's umask meanwhile would strike every file that is made elsewhere in
 * the process at that moment.
 */
async function bindPrivately(server: Server, path: string): Promise<void> {
  const hall = await mkdtemp(join(dirname(path), '.b'));
  const made = join(hall, 's');
  try {
    for (const address of [path, made]) {
      if (Buffer.byteLength(address) > LONGEST_SOCKET_PATH) {
        throw new Error(
          `Cannot listen as the path of a unix socket must not exceed ${LONGEST_SOCKET_PATH} bytes: ${address}`,
        );
      }
    }
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${made}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    await chmod(made, 0o600);
    await rename(made, path);
  } finally {
    await rm(made, { force: true });
    await rmdir(hall);
  }
}

/** Removes a socket on which nobody answers. @throws Error when somebody does, or when it is no socket */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket()) throw new Error(`Cannot listen as the path must be free or a socket: ${path}`);
  if (await answers(path)) throw new Error(`Cannot listen as another process answers on the socket: ${path}`);
  await rm(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(path);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
}
