import { status } from '@grpc/grpc-js';

/** The name of a gRPC status, as in `NOT_FOUND`. */
export type StatusName = Exclude<keyof typeof status, 'OK'>;

/** An answer that is a gRPC status other than OK. */
export class CriError extends Error {
  override readonly name = 'CriError';
  readonly code: status;
  readonly details: string;

  constructor(code: StatusName, details: string, options?: ErrorOptions) {
    super(details, options);
    this.code = status[code];
    this.details = details;
  }
}

/** True for the kernel's "no space left on device", on bytes or inodes. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** Any failure as the status that a runtime would answer: containerd has UNKNOWN for whatever it has no word for. */
export function asCriError(what: string, error: unknown): CriError {
  if (error instanceof CriError) return error;
  const reason = isNoSpace(error) ? 'no space left on device' : error instanceof Error ? error.message : String(error);
  return new CriError('UNKNOWN', `${what}: ${reason}`, { cause: error });
}
