import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {
  type ImageServiceServer,
  ImageServiceService,
  type RuntimeServiceServer,
  RuntimeServiceService,
} from '../../../src/proto/generated/cri.js';

/** The calls that a test answers itself; a runtime without a call says UNIMPLEMENTED. */
export type RuntimeCalls = Partial<RuntimeServiceServer>;
export type ImageCalls = Partial<ImageServiceServer>;

/** A CRI v1 server that answers with what it is given. */
export interface FakeRuntime {
  readonly endpoint: string;
  /** Drops every connection and stops listening, as a kill does. */
  kill(): Promise<void>;
}

/** A directory of its own for sockets, short enough for them; gone after the test. */
export async function socketDirectory(t: { teardown(end: () => Promise<void>): void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'cri-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Serves on the socket `path`. `version` answers unless it is given. `others`: services that are not CRI's. */
export async function serveRuntime(
  path: string,
  calls: RuntimeCalls = {},
  imageCalls: ImageCalls = {},
  others: readonly (readonly [ServiceDefinition, object])[] = [],
): Promise<FakeRuntime> {
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  const runtime: RuntimeCalls = { version: answer(IDENTITY), ...calls };
  // A partial service is what an older runtime is; grpc-js fills in UNIMPLEMENTED.
  server.addService(RuntimeServiceService, runtime as UntypedServiceImplementation);
  server.addService(ImageServiceService, imageCalls as UntypedServiceImplementation);
  for (const [service, its] of others) server.addService(service, its as UntypedServiceImplementation);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return {
    endpoint: `unix://${path}`,
    async kill() {
      server.forceShutdown();
      await rm(path, { force: true });
    },
  };
}

export const IDENTITY = {
  version: '0.1.0',
  runtimeName: 'containerd',
  runtimeVersion: 'v2.1.0',
  runtimeApiVersion: 'v1',
};

/** Answers every call with this. `seen` gets the requests. */
export function answer<Request, Response>(response: Response, seen?: Request[]): handleUnaryCall<Request, Response> {
  return (call, reply) => {
    seen?.push(call.request);
    reply(null, response);
  };
}

/** Fails every call with this. */
export function refuse<Request, Response>(code: number, details: string): handleUnaryCall<Request, Response> {
  return (_call, reply) => reply({ code, details });
}

/** Never answers. `seen` gets the requests. */
export function mute<Request, Response>(seen?: Request[]): handleUnaryCall<Request, Response> {
  return (call) => void seen?.push(call.request);
}

/** Streams these messages, then ends, or fails with `error`. */
export function stream<Request, Response>(
  messages: readonly Response[],
  error?: { readonly code: number; readonly details: string },
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    for (const message of messages) call.write(message);
    if (error === undefined) call.end();
    else call.emit('error', error);
  };
}
