import type { handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import { asCriError, CriError } from './cri-error.js';
import type { Faults } from './faults.js';

/** What both services answer with: the work of a call, wrapped in the faults that were ordered. */
export class Calls {
  readonly #faults: Faults;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** A call with one answer. The signal is aborted when the caller is gone or its deadline is over. */
  unary<Request, Response>(
    name: string,
    work: (request: Request, signal: AbortSignal) => Response | Promise<Response>,
  ): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      const gone = goneSignal(call);
      this.#faults
        .before(name, subjectOf(call.request), gone)
        .then(() => work(call.request, gone))
        .then(
          (response) => callback(null, response),
          (error: unknown) => callback(asCriError(name, error)),
        );
    };
  }

  /**
   * A call with a stream of answers. The work sends them and resolves when it has sent all; the stream ends then. Where
   * the behaviour has no such call, it is unknown, which a client learns on the first receive.
   */
  stream<Request, Response>(
    name: string,
    supported: boolean,
    work: (request: Request, send: (message: Response) => void, signal: AbortSignal) => Promise<void>,
  ): handleServerStreamingCall<Request, Response> {
    return (call) => {
      const gone = goneSignal(call);
      const run = async (): Promise<void> => {
        if (!supported) throw unimplemented(name);
        await this.#faults.before(name, subjectOf(call.request), gone);
        await work(call.request, (message) => call.write(message), gone);
      };
      run().then(
        () => call.end(),
        (error: unknown) => call.emit('error', asCriError(name, error)),
      );
    };
  }
}

/** The answer of a runtime that has no such call. */
export function unimplemented(name: string): CriError {
  return new CriError('UNIMPLEMENTED', `unknown method ${name} for service runtime.v1`);
}

function goneSignal(call: {
  readonly cancelled: boolean;
  on(event: 'cancelled', listener: () => void): unknown;
}): AbortSignal {
  const controller = new AbortController();
  if (call.cancelled) controller.abort();
  call.on('cancelled', () => controller.abort());
  return controller.signal;
}

/** What a call is about, for faults that pick their calls: a container, a sandbox, an image, or the name of a new thing. */
function subjectOf(request: unknown): string {
  const fields = request as {
    readonly containerId?: string;
    readonly podSandboxId?: string;
    readonly image?: { readonly image: string };
    readonly config?: { readonly metadata?: { readonly name: string } };
  };
  return fields.containerId ?? fields.image?.image ?? fields.config?.metadata?.name ?? fields.podSandboxId ?? '';
}
