import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { createConnection, createServer, type Server as Listener, type Socket } from 'node:net';
import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Door } from './faults.js';

/** A service to answer with. */
export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/** Longest path that fits into the address of a unix socket, without its ending zero. */
const LONGEST_SOCKET_PATH = 107;

/** What is there while the door is open. */
interface Opened {
  readonly grpc: Server;
  readonly listener: Listener;
  readonly connections: ReadonlySet<Socket>;
}

/**
 * The server behind the socket: it can be shut without a word and opened again at the same path. The connections are
 * taken here and handed to gRPC, so that they can be dropped as those of a killed process are.
 */
export class SocketServer implements Door {
  readonly #path: string;
  readonly #services: () => readonly ServedService[];
  #opened: Opened | null = null;

  constructor(path: string, services: () => readonly ServedService[]) {
    this.#path = path;
    this.#services = services;
  }

  /** Listens. @throws Error when another process answers on the socket, or the path does not fit into an address */
  async open(): Promise<void> {
    if (this.#opened !== null) return;
    if (Buffer.byteLength(this.#path) > LONGEST_SOCKET_PATH) {
      throw new Error(
        `Cannot listen as the path of a unix socket must not exceed ${LONGEST_SOCKET_PATH} bytes: ${this.#path}`,
      );
    }
    await removeStaleSocket(this.#path);
    const grpc = new Server();
    for (const { definition, implementation } of this.#services()) grpc.addService(definition, implementation);
    const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
    const connections = new Set<Socket>();
    const listener = createServer((connection) => {
      connections.add(connection);
      connection.once('close', () => connections.delete(connection));
      injector.injectConnection(connection);
    });
    await listenPrivately(listener, this.#path);
    this.#opened = { grpc, listener, connections };
  }

  /** Drops every connection and goes away, as a killed process does. */
  async shut(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened === null) return;
    const closed = once(opened.listener, 'close');
    opened.listener.close();
    for (const connection of opened.connections) connection.destroy();
    await closed;
    opened.grpc.forceShutdown();
  }
}

/** Binds so that nobody but this user can ever connect. The bind happens within `listen`, so the umask is back at once. */
async function listenPrivately(listener: Listener, path: string): Promise<void> {
  const listening = once(listener, 'listening');
  const umask = process.umask(0o177);
  try {
    listener.listen(path);
  } finally {
    process.umask(umask);
  }
  await listening;
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
