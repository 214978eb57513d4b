import test from 'ava';
import { RuntimeError } from '../../src/ports/runtime.js';
import { BackOff } from '../../src/reclaim/back-off.js';
import { watchedRuntime } from '../../src/reclaim/watched-runtime.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { emptyWorld, GONE, putContainer, putImage } from '../fakes/scenery.js';

function scene() {
  const world = emptyWorld();
  const runtime = new FakeRuntime(world);
  const backOff = new BackOff(world.clock);
  return { world, runtime, backOff, watched: watchedRuntime(runtime, backOff) };
}

test('a refused removal rests, and a later success clears it', async (t) => {
  const { world, runtime, backOff, watched } = scene();
  putContainer(world, 'dead', GONE, {});
  const removal = runtime.removeContainer.bind(runtime);
  runtime.removeContainer = () =>
    Promise.reject(new RuntimeError('mount busy', { kind: 'failed', call: 'RemoveContainer' }));
  await t.throwsAsync(watched.removeContainer('dead'), { message: 'mount busy' });
  t.regex(backOff.reason('dead') ?? '', /mount busy/);
  runtime.removeContainer = removal;
  await world.clock.run(watched.removeContainer('dead'));
  t.is(backOff.reason('dead'), null);
});

test('an image that stays listed after a removal that succeeded has failed', async (t) => {
  const { world, runtime, backOff, watched } = scene();
  const id = putImage(world, 'sticky');
  runtime.removeImage = () => Promise.resolve();
  const error = await t.throwsAsync(world.clock.run(watched.removeImage(id)), { instanceOf: RuntimeError });
  t.is(error.kind, 'without-effect');
  t.regex(error.message, new RegExp(id));
  t.not(backOff.reason(id), null);
});

test('an image that is gone is removed, also when nobody can say so', async (t) => {
  const { world, runtime, backOff, watched } = scene();
  const id = putImage(world, 'unused');
  runtime.imageStatus = () => Promise.reject(new RuntimeError('no answer', { kind: 'deadline', call: 'ImageStatus' }));
  await t.notThrowsAsync(world.clock.run(watched.removeImage(id)));
  t.is(backOff.reason(id), null);
});
