import { status } from '@grpc/grpc-js';
import { RuntimeError, type RuntimeErrorKind } from '../../ports/runtime.js';

/** What a failed call was about, for its message and its kind. */
export interface CallFacts {
  /** CRI method, such as `RemoveImage`. */
  readonly call: string;
  /** Id or reference the call was about. */
  readonly target?: string;
  /** `unix:///…` */
  readonly endpoint: string;
  /** We gave up ourselves: the caller's signal, or the connection was closed. */
  readonly gaveUp: boolean;
  /** The time the call was given has passed. */
  readonly timeIsUp: boolean;
}

interface Row {
  /** gRPC code, or null for any. */
  readonly code: number | null;
  /** What the message must hold. */
  readonly text?: RegExp;
  readonly when?: (facts: CallFacts) => boolean;
  readonly kind: RuntimeErrorKind;
  /** The rule, as it reads after "Cannot X as". */
  readonly rule: string;
  /** What follows the colon: where we looked, or what the runtime said. */
  readonly value: 'endpoint' | 'details';
}

const NOT_CRI = 'the other side must speak CRI v1 over gRPC, which it does not (no container runtime?)';

/**
 * The one table from what gRPC says to what it means; the first row that fits wins. Texts of the runtimes come before bare
 * codes, as containerd sends nearly all its own errors as UNKNOWN, and grpc-js every failed dial as UNAVAILABLE.
 */
const ROWS: readonly Row[] = [
  // What we did ourselves. A CANCELLED that we did not ask for is the runtime's context running out, or its shutdown.
  {
    code: status.CANCELLED,
    when: (facts) => facts.gaveUp,
    kind: 'cancelled',
    rule: 'it was given up',
    value: 'endpoint',
  },
  {
    code: status.CANCELLED,
    when: (facts) => facts.timeIsUp,
    kind: 'deadline',
    rule: 'no answer came in time',
    value: 'endpoint',
  },
  {
    code: null,
    text: /context deadline exceeded/i,
    kind: 'deadline',
    rule: 'the runtime ran out of time',
    value: 'details',
  },
  { code: status.CANCELLED, kind: 'unavailable', rule: 'the runtime broke it off', value: 'details' },
  // No connection was made.
  {
    code: status.UNAVAILABLE,
    text: /connect ENOENT/,
    kind: 'unavailable',
    rule: 'there is no runtime socket',
    value: 'endpoint',
  },
  {
    code: status.UNAVAILABLE,
    text: /connect (EACCES|EPERM)/,
    kind: 'permission-denied',
    rule: 'this user must be allowed to write to the runtime socket (it is usually root only)',
    value: 'endpoint',
  },
  {
    code: status.UNAVAILABLE,
    text: /connect (ECONNREFUSED|ENOTSOCK|EPROTOTYPE)/,
    kind: 'unavailable',
    rule: 'nobody listens there: the runtime is down, or the path is no stream socket',
    value: 'endpoint',
  },
  {
    code: status.UNAVAILABLE,
    text: /connect EAGAIN/,
    kind: 'unavailable',
    rule: 'the runtime takes no more connections now',
    value: 'endpoint',
  },
  { code: status.UNAVAILABLE, text: /Protocol error/, kind: 'unimplemented', rule: NOT_CRI, value: 'endpoint' },
  {
    code: status.UNAVAILABLE,
    text: /Failed to connect|No connection established/,
    kind: 'unavailable',
    rule: 'the other side closes every connection',
    value: 'endpoint',
  },
  {
    code: status.DEADLINE_EXCEEDED,
    text: /Waiting for LB pick/,
    kind: 'deadline',
    rule: 'somebody listens there who did not speak gRPC in time',
    value: 'endpoint',
  },
  // It is not the service that it should be.
  {
    code: status.UNIMPLEMENTED,
    text: /unknown service runtime\.v1\./,
    kind: 'unimplemented',
    rule: 'the runtime must serve CRI v1 (it is older than v1, or its CRI plugin is disabled)',
    value: 'endpoint',
  },
  { code: status.UNIMPLEMENTED, text: /HTTP status code/, kind: 'unimplemented', rule: NOT_CRI, value: 'endpoint' },
  { code: status.INTERNAL, text: /without gRPC status/, kind: 'failed', rule: NOT_CRI, value: 'endpoint' },
  // The disk is full: a runtime wraps the kernel's words in any code.
  {
    code: null,
    text: /no space left on device|disk quota exceeded/i,
    kind: 'no-space',
    rule: 'the runtime found the disk full',
    value: 'details',
  },
  // The state of the object. containerd's words; it sends UNKNOWN with them.
  {
    code: null,
    text: /already in removing state|in starting state, can't be removed/i,
    kind: 'busy',
    rule: 'another call is changing the object',
    value: 'details',
  },
  {
    code: null,
    text: /container is still running|is not fully stopped|cannot delete (a )?running task/i,
    kind: 'still-running',
    rule: 'the runtime believes that it runs',
    value: 'details',
  },
  // grpc-js says "larger than max" for what it receives, Go's gRPC for what it would send.
  {
    code: status.RESOURCE_EXHAUSTED,
    text: /larger than max/,
    kind: 'too-large',
    rule: 'the answer is larger than the message limit (raise it here, or in the runtime)',
    value: 'details',
  },
  // containerd listens before its CRI plugin is up.
  {
    code: null,
    text: /server is not initialized yet/,
    kind: 'unavailable',
    rule: 'the runtime is still starting',
    value: 'details',
  },
  // The bare codes.
  { code: status.UNAVAILABLE, kind: 'unavailable', rule: 'the connection to the runtime broke', value: 'details' },
  { code: status.DEADLINE_EXCEEDED, kind: 'deadline', rule: 'no answer came in time', value: 'details' },
  { code: status.NOT_FOUND, kind: 'not-found', rule: 'the runtime does not know it', value: 'details' },
  { code: status.UNIMPLEMENTED, kind: 'unimplemented', rule: 'the runtime does not have this call', value: 'details' },
  {
    code: status.PERMISSION_DENIED,
    kind: 'permission-denied',
    rule: 'the runtime does not allow it',
    value: 'details',
  },
  { code: status.UNAUTHENTICATED, kind: 'permission-denied', rule: 'the runtime does not allow it', value: 'details' },
  { code: status.ABORTED, kind: 'busy', rule: 'another call is changing the object', value: 'details' },
];

const OTHERWISE: Row = { code: null, kind: 'failed', rule: 'the runtime refused', value: 'details' };

/** Says what a failed gRPC call means. Anything may come in: what is not of gRPC is `failed`, with its own message. */
export function runtimeErrorOf(error: unknown, facts: CallFacts): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const { code, details } = failureOf(error);
  const row = ROWS.find((candidate) => fits(candidate, code, details, facts)) ?? OTHERWISE;
  const value = row.value === 'endpoint' ? facts.endpoint : `${details} (${nameOf(code)}, ${facts.endpoint})`;
  return new RuntimeError(`${cannot(facts.call, facts.target)} as ${row.rule}: ${value}`, {
    kind: row.kind,
    call: facts.call,
    ...(facts.target === undefined ? {} : { target: facts.target }),
    cause: error,
  });
}

/** The error of a call on a connection that was closed, or whose signal had aborted before it began. */
export function givenUp(call: string, target: string | undefined, endpoint: string): RuntimeError {
  const facts: CallFacts = {
    call,
    endpoint,
    gaveUp: true,
    timeIsUp: false,
    ...(target === undefined ? {} : { target }),
  };
  return runtimeErrorOf({ code: status.CANCELLED, details: 'given up before it began' }, facts);
}

function cannot(call: string, target: string | undefined): string {
  return target === undefined ? `Cannot call ${call}` : `Cannot call ${call} for ${target}`;
}

function fits(row: Row, code: number, details: string, facts: CallFacts): boolean {
  if (row.code !== null && row.code !== code) return false;
  if (row.text !== undefined && !row.text.test(details)) return false;
  return row.when === undefined || row.when(facts);
}

function failureOf(error: unknown): { readonly code: number; readonly details: string } {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const details = typeof error === 'object' && error !== null && 'details' in error ? error.details : undefined;
  return {
    code: typeof code === 'number' ? code : status.UNKNOWN,
    details: typeof details === 'string' ? details : error instanceof Error ? error.message : String(error),
  };
}

function nameOf(code: number): string {
  // A numeric enum maps its numbers back to names; a code that is none of gRPC's has no name.
  return status[code] ?? `code ${code}`;
}
