import test from 'ava';
import { awaitEndpoint } from '../../src/daemon/endpoint.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const CRIO = '/run/crio/crio.sock';

test('where no usual socket is there, it is waited for, and that is said once', async (t) => {
  const clock = new VirtualClock(0);
  const told: (readonly string[])[] = [];
  const pathExists = (path: string) => path === CRIO && clock.now() >= 60_000;
  const found = await clock.run(
    awaitEndpoint(
      { settings: { runtimeEndpoint: null }, pathExists, clock, tell: (sockets) => told.push(sockets) },
      new AbortController().signal,
    ),
  );
  t.is(found, `unix://${CRIO}`);
  t.is(clock.now() - 60_000 < 3_000, true, 'within three seconds of its coming');
  t.deepEqual(told, [['unix:///run/containerd/containerd.sock', 'unix:///run/crio/crio.sock']]);
});

test('one that is there at once, or that is configured, is not waited for', async (t) => {
  for (const [runtimeEndpoint, isThere, expected] of [
    [null, true, 'unix:///run/containerd/containerd.sock'],
    ['/run/other.sock', false, 'unix:///run/other.sock'],
  ] as const) {
    const deps = {
      settings: { runtimeEndpoint },
      pathExists: () => isThere,
      clock: new VirtualClock(0),
      tell: () => t.fail('nothing is waited for'),
    };
    t.is(await awaitEndpoint(deps, new AbortController().signal), expected);
  }
});

test('an end of the daemon ends the waiting', async (t) => {
  const clock = new VirtualClock(0);
  const abort = new AbortController();
  const waiting = awaitEndpoint(
    { settings: { runtimeEndpoint: null }, pathExists: () => false, clock, tell: () => undefined },
    abort.signal,
  );
  await clock.pass(10_000);
  abort.abort();
  t.is(await waiting, null);
});
