import { type CallOptions, type Client, Metadata, type ServiceError } from '@grpc/grpc-js';

/** What the generated service definitions say of one unary method. */
interface UnaryMethod<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly responseDeserialize: (value: Buffer) => Response;
}

/** Calls a unary method of a generated service; rejects with grpc-js's `ServiceError`. */
export function call<Request, Response>(
  client: Client,
  method: UnaryMethod<Request, Response>,
  request: Request,
  deadlineMs = 30_000,
): Promise<Response> {
  const options: Partial<CallOptions> = { deadline: Date.now() + deadlineMs };
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, response?: Response): void => {
      if (error !== null) reject(error);
      else if (response === undefined) reject(new Error(`Cannot read the answer as it is empty: ${method.path}`));
      else resolve(response);
    };
    client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      new Metadata(),
      options,
      done,
    );
  });
}
