import { type ServiceError, status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { ImageServiceService, RuntimeServiceService } from '../../src/proto/generated/cri.js';
import { imageSpec, outcomeOf } from '../contract/contract-scene.js';
import { type EmbeddedUnderTest, openEmbedded } from '../contract/embedded-under-test.js';
import { call } from '../lab/call.js';
import { waitFor } from '../lab/wait.js';

async function open(t: ExecutionContext): Promise<EmbeddedUnderTest> {
  const under = await openEmbedded({ disk: { sizeBytes: 16 << 20 } });
  t.teardown(() => under.close());
  return under;
}

const removeImage = (under: EmbeddedUnderTest, name: string, deadlineMs = 10_000): Promise<unknown> =>
  call(under.images, ImageServiceService.removeImage, { image: imageSpec(name) }, deadlineMs);
const version = (under: EmbeddedUnderTest, deadlineMs = 10_000): Promise<unknown> =>
  call(under.runtime, RuntimeServiceService.version, { version: '' }, deadlineMs);

test.serial('a failure hits the call and the id it names, as often as it says, and then no more', async (t) => {
  const under = await open(t);
  under.embedded.faults.fail({ call: 'RemoveImage', id: /^bad/, times: 2 }, 'UNKNOWN', 'failed to delete: device busy');
  t.is((await outcomeOf(removeImage(under, 'good'))).code, status.OK);
  for (let number = 0; number < 2; number += 1) {
    const { code, details } = await outcomeOf(removeImage(under, 'bad/one'));
    t.deepEqual({ code, details }, { code: status.UNKNOWN, details: 'failed to delete: device busy' });
  }
  t.is((await outcomeOf(removeImage(under, 'bad/one'))).code, status.OK);
});

test.serial('a failure without a count stays until it is undone', async (t) => {
  const under = await open(t);
  const undo = under.embedded.faults.fail({ call: '*' }, 'UNAVAILABLE');
  for (let number = 0; number < 3; number += 1) t.is((await outcomeOf(version(under))).code, status.UNAVAILABLE);
  undo();
  t.is((await outcomeOf(version(under))).code, status.OK);
});

test.serial('a call that hangs past its deadline was not done', async (t) => {
  const under = await open(t);
  under.embedded.faults.hang({ call: 'RemoveImage', times: 1 });
  t.is((await outcomeOf(removeImage(under, under.sandboxImage, 200))).code, status.DEADLINE_EXCEEDED);
  const { image } = await call(under.images, ImageServiceService.imageStatus, {
    image: imageSpec(under.sandboxImage),
    verbose: false,
  });
  t.truthy(image);
});

test.serial('a call that hangs for a time is done after it', async (t) => {
  const under = await open(t);
  under.embedded.faults.hang({ call: 'Version', times: 1 }, 200);
  const start = performance.now();
  t.is((await outcomeOf(version(under))).code, status.OK);
  t.true(performance.now() - start >= 190);
});

test.serial('slow makes each call wait', async (t) => {
  const under = await open(t);
  under.embedded.faults.slow(150);
  const start = performance.now();
  await version(under);
  await version(under);
  t.true(performance.now() - start >= 290);
  under.embedded.faults.clear();
  t.is((await outcomeOf(version(under, 140))).code, status.OK);
});

test.serial('frozen it answers nothing; thawed it goes on with those who still wait', async (t) => {
  const under = await open(t);
  under.embedded.faults.freeze();
  t.is((await outcomeOf(version(under, 200))).code, status.DEADLINE_EXCEEDED);
  const waiting = outcomeOf(version(under));
  under.embedded.faults.thaw();
  t.is((await waiting).code, status.OK);
});

test.serial('connections that are refused are UNAVAILABLE, and the same channel works again afterwards', async (t) => {
  const under = await open(t);
  await version(under);
  await under.embedded.faults.refuseConnections();
  t.is((await outcomeOf(version(under))).code, status.UNAVAILABLE);
  await under.embedded.faults.acceptConnections();
  await waitFor('an answer', 10_000, () => version(under).catch(() => undefined));
  t.pass();
});

test.serial('a restart ends the streams of events, and a new one gets what happened meanwhile', async (t) => {
  const under = await open(t);
  const stream = under.runtime.getContainerEvents({});
  const ended = new Promise<number>((resolve) => stream.on('error', (error) => resolve((error as ServiceError).code)));
  stream.resume();
  await version(under);
  await under.restart();
  t.is(await ended, status.UNAVAILABLE);
  await under.embedded.startPod({ name: 'unseen', containers: [] });
  await waitFor('an answer', 10_000, () => version(under).catch(() => undefined));
  const again = under.runtime.getContainerEvents({});
  // The end of the test cancels the stream, which is an error to the stream and none to the test.
  again.on('error', () => undefined);
  const kinds: unknown[] = [];
  again.on('data', (event: { containerEventType: unknown }) => kinds.push(event.containerEventType));
  await waitFor('two events', 5_000, () => kinds.length >= 2 || undefined);
  t.deepEqual(kinds, [0, 1]);
  again.cancel();
});
