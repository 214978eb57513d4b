import { status } from '@grpc/grpc-js';
import test from 'ava';
import { type CallFacts, givenUp, runtimeErrorOf } from '../../../src/adapters/cri/errors.js';
import { RuntimeError, type RuntimeErrorKind } from '../../../src/ports/runtime.js';

const FACTS: CallFacts = {
  call: 'RemoveContainer',
  target: 'c1',
  endpoint: 'unix:///run/x.sock',
  gaveUp: false,
  timeIsUp: false,
};

const means = test.macro({
  exec(t, code: number, details: string, kind: RuntimeErrorKind, message: RegExp, facts: Partial<CallFacts> = {}) {
    const error = runtimeErrorOf({ code, details }, { ...FACTS, ...facts });
    t.is(error.kind, kind);
    t.is(error.call, 'RemoveContainer');
    t.is(error.target, 'c1');
    t.true(error.message.startsWith('Cannot call RemoveContainer for c1 as '), error.message);
    t.true(error.message.includes('unix:///run/x.sock'), error.message);
    t.regex(error.message, message);
    t.deepEqual(error.cause, { code, details });
  },
  title: (_, code: number, details: string, kind: string, __: RegExp, facts?: Partial<CallFacts>) =>
    `${status[code]} "${details}"${facts === undefined ? '' : ` ${JSON.stringify(facts)}`} is ${kind}`,
});

const noConnection = (why: string) => `No connection established. Last error: ${why}. Resolution note: `;
test(means, 14, noConnection('Error: connect ENOENT /run/x.sock'), 'unavailable', /there is no runtime socket/);
test(means, 14, noConnection('Error: connect EACCES /run/x.sock'), 'permission-denied', /must be allowed to write/);
test(means, 14, noConnection('Error: connect EPERM /run/x.sock'), 'permission-denied', /must be allowed to write/);
test(means, 14, noConnection('Error: connect ECONNREFUSED /run/x.sock'), 'unavailable', /nobody listens there/);
test(means, 14, noConnection('Error: connect EPROTOTYPE /run/x.sock'), 'unavailable', /no stream socket/);
test(means, 14, noConnection('Error: connect EAGAIN /run/x.sock'), 'unavailable', /takes no more connections/);
test(
  means,
  14,
  noConnection('Protocol error (2026-01-01T00:00:00.000Z)'),
  'unimplemented',
  /must speak CRI v1 over gRPC/,
);
test(means, 14, noConnection('Failed to connect'), 'unavailable', /closes every connection/);
test(means, 14, 'Connection dropped', 'unavailable', /connection to the runtime broke: Connection dropped/);
test(means, 2, 'server is not initialized yet', 'unavailable', /still starting/);
test(means, 4, 'Deadline exceeded after 3.003s,Waiting for LB pick', 'deadline', /did not speak gRPC in time/);
test(means, 4, 'Deadline exceeded after 10.001s', 'deadline', /no answer came in time/);
test(means, 2, 'failed to stop: context deadline exceeded', 'deadline', /ran out of time/);

test(means, 1, 'Call cancelled', 'cancelled', /given up/, { gaveUp: true });
// The runtime's own context ended: containerd answers a stop that hangs on a full disk with either code.
test(means, 1, 'context canceled', 'deadline', /no answer came in time/, { timeIsUp: true });
test(means, 1, 'Received RST_STREAM with code 8', 'unavailable', /broke it off/);
// Giving up does not rewrite an answer that came all the same.
test(means, 5, 'no such container', 'not-found', /does not know it/, { gaveUp: true });

test(means, 12, 'unknown service runtime.v1.RuntimeService', 'unimplemented', /must serve CRI v1/);
test(means, 12, 'Received HTTP status code 404', 'unimplemented', /must speak CRI v1 over gRPC/);
test(
  means,
  12,
  'unknown method StreamContainers for service runtime.v1.RuntimeService',
  'unimplemented',
  /does not have/,
);
test(means, 13, 'Received RST_STREAM with code 0 (Call ended without gRPC status)', 'failed', /must speak CRI v1/);

test(means, 2, 'failed to create: write /x: no space left on device', 'no-space', /disk full: failed to create/);
test(means, 14, 'open /x: disk quota exceeded', 'no-space', /disk full/);
test(
  means,
  2,
  'failed to set removing state for container "c1": container is already in removing state',
  'busy',
  /another call/,
);
test(means, 2, "container is in starting state, can't be removed", 'busy', /another call/);
test(means, 10, 'conflict', 'busy', /another call/);
test(
  means,
  2,
  'failed to set removing state: container is still running, to stop first',
  'still-running',
  /believes that it runs/,
);
test(means, 9, 'cannot delete running task c1: failed precondition', 'still-running', /believes that it runs/);
test(
  means,
  8,
  'Received message larger than max (9802818 vs 4194304)',
  'too-large',
  /message limit.*9802818 vs 4194304/,
);
test(means, 8, 'grpc: trying to send message larger than max (17 vs 16)', 'too-large', /message limit/);
test(means, 8, 'too many requests', 'failed', /refused: too many requests/);
test(means, 5, 'container not found', 'not-found', /does not know it/);
// A tool that is not there is no container that is not there: taken for one, a removal that failed would count as done.
test(means, 2, 'runc: executable file not found in $PATH', 'failed', /refused: runc/);
test(means, 7, 'denied by policy', 'permission-denied', /does not allow/);
test(means, 16, 'who are you', 'permission-denied', /does not allow/);
test(means, 2, 'boom', 'failed', /refused: boom \(UNKNOWN/);
test(means, 99, 'boom', 'failed', /refused: boom \(code 99/);

test('a call without a target says so by leaving it out', (t) => {
  const { target: _, ...facts } = FACTS;
  const error = runtimeErrorOf({ code: 2, details: 'boom' }, facts);
  t.is(error.target, null);
  t.true(error.message.startsWith('Cannot call RemoveContainer as the runtime refused: boom'));
});

test('what is not of gRPC is a failure with its own words', (t) => {
  t.regex(runtimeErrorOf(new TypeError('odd'), FACTS).message, /odd/);
  t.is(runtimeErrorOf('text', FACTS).kind, 'failed');
  t.is(runtimeErrorOf(undefined, FACTS).kind, 'failed');
});

test('an error that is translated already stays as it is', (t) => {
  const error = new RuntimeError('x', { kind: 'busy', call: 'y' });
  t.is(runtimeErrorOf(error, FACTS), error);
});

test('a call given up before it began is cancelled', (t) => {
  t.is(givenUp('Version', undefined, 'unix:///x').kind, 'cancelled');
  t.is(givenUp('RemoveImage', 'i1', 'unix:///x').target, 'i1');
});
