import { Client, type ClientOptions, connectivityState, credentials, Metadata } from '@grpc/grpc-js';
import type { Instant, Milliseconds } from '../../units/units.js';
import { type Cancellable, Cancellation } from './cancellation.js';
import type { Endpoint } from './endpoint.js';
import { givenUp, runtimeErrorOf } from './errors.js';

/** One gRPC method, as the generated service definitions describe it. */
export interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly responseDeserialize: (value: Buffer) => Response;
}

/** How one call is made. */
export interface CallOptions {
  /** Null for a stream without end. */
  readonly timeout: Milliseconds | null;
  /** Id or reference that the call is about, for the message of its error. */
  readonly target?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Headers of the call. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A connection to one runtime. Dials at the first call, and anew whenever the last connection was lost. */
export interface Connection {
  readonly endpoint: Endpoint;
  /** Rejects with a `RuntimeError`. */
  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Response>;
  /** The messages of a server stream. Throws a `RuntimeError`, also after some messages: those are then no whole. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): AsyncGenerator<Response, void, undefined>;
  /** Grows whenever the connection was lost: what was learnt of the runtime before may no longer hold. */
  generation(): number;
  /** Ends all calls under way as cancelled. Calls made later are refused. */
  close(): void;
}

/** Makes a connection. `now` must be the wall clock, as grpc-js compares deadlines with it. */
export function openConnection(endpoint: Endpoint, maxMessageBytes: number, now: () => Instant): Connection {
  const underWay = new Cancellation();
  let closed = false;
  let generation = 0;
  let client = dial(endpoint, maxMessageBytes, lost);

  function lost(): void {
    generation += 1;
  }

  // grpc-js answers from memory while it waits to dial again, so a call just after the runtime's return would still fail.
  // Backing off spares a network and a far host; here it is one connect(2) on a local socket, made only when there is a call.
  function connected(): Client {
    if (client.getChannel().getConnectivityState(false) === connectivityState.TRANSIENT_FAILURE) {
      client.close();
      lost();
      client = dial(endpoint, maxMessageBytes, lost);
    }
    return client;
  }

  function begin(path: string, options: CallOptions) {
    const call = path.slice(path.lastIndexOf('/') + 1);
    const deadline = options.timeout === null ? null : now() + options.timeout;
    if (closed || options.signal?.aborted === true) throw givenUp(call, options.target, endpoint.url);
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value);
    return {
      metadata,
      grpcOptions: deadline === null ? {} : { deadline },
      track: (running: Cancellable): (() => void) => underWay.watch(running, options.signal),
      errorOf: (error: unknown) =>
        runtimeErrorOf(error, {
          call,
          endpoint: endpoint.url,
          gaveUp: closed || options.signal?.aborted === true,
          timeIsUp: deadline !== null && now() >= deadline,
          ...(options.target === undefined ? {} : { target: options.target }),
        }),
    };
  }

  return {
    endpoint,
    async unary(method, request, options) {
      const { metadata, grpcOptions, track, errorOf } = begin(method.path, options);
      return await new Promise((resolve, reject) => {
        const running = connected().makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          metadata,
          grpcOptions,
          (error, response) => {
            done();
            if (error !== null) reject(errorOf(error));
            else if (response === undefined) reject(errorOf(new Error('an answer without a message')));
            else resolve(response);
          },
        );
        const done = track(running);
      });
    },
    async *stream(method, request, options) {
      const { metadata, grpcOptions, track, errorOf } = begin(method.path, options);
      const running = connected().makeServerStreamRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        grpcOptions,
      );
      const done = track(running);
      // Ending the loop early cancels the call, whose error then has no other listener.
      running.on('error', () => undefined);
      try {
        for await (const message of running as AsyncIterable<ReturnType<typeof method.responseDeserialize>>)
          yield message;
      } catch (error) {
        throw errorOf(error);
      } finally {
        done();
        running.cancel();
      }
    },
    generation: () => generation,
    close() {
      if (closed) return;
      closed = true;
      underWay.cancelAll();
      client.close();
    },
  };
}

function dial(endpoint: Endpoint, maxMessageBytes: number, onLost: () => void): Client {
  const options: ClientOptions = {
    'grpc.max_receive_message_length': maxMessageBytes,
    // Shared subchannels would outlive `close`, and carry one client's backoff into another.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_http_proxy': 0,
    // For a connection that nobody renews meanwhile: a stopped runtime is back within about a second.
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1000,
    // No keepalive pings: a unix socket tells the death of its peer, and Go's gRPC punishes pings more frequent than 5 min.
  };
  const client = new Client(`unix:${endpoint.path}`, credentials.createInsecure(), options);
  watch(client, onLost);
  return client;
}

/** Calls `onLost` each time the channel leaves READY. */
function watch(client: Client, onLost: () => void): void {
  const channel = client.getChannel();
  const before = channel.getConnectivityState(false);
  channel.watchConnectivityState(before, Number.POSITIVE_INFINITY, () => {
    const state = channel.getConnectivityState(false);
    if (before === connectivityState.READY) onLost();
    if (state !== connectivityState.SHUTDOWN) watch(client, onLost);
  });
}
