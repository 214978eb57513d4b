import test from 'ava';
import { imagesInUse } from '../../src/gc/image-use.js';
import { ImageClaims } from '../../src/reclaim/image-claims.js';
import { user } from '../fakes/builders.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { emptyWorld, putImage } from '../fakes/scenery.js';

const { signal } = new AbortController();

function scene(references: readonly string[], wanted: readonly string[] = []) {
  const world = emptyWorld();
  for (const name of ['a', 'b']) putImage(world, name);
  const runtime = new FakeRuntime(world);
  const claims = new ImageClaims({
    runtime,
    wanted: () => Promise.resolve(wanted.map((reference) => ({ pod: 'default/p', reference }))),
  });
  const ask = () => {
    const images = [...world.images.values()];
    const containers = references.map((image, index) => user(`c${index}`, { image }));
    return claims.complete(imagesInUse(images, containers, { sandboxImage: null, volumes: [] }), images, signal);
  };
  return { world, runtime, claims, ask };
}

test('what a pod wants is in use before any container of it is there', async (t) => {
  const { ask } = scene([], ['docker.io/library/a:1']);
  t.deepEqual([...(await ask()).users], [['sha256:a', 'wanted by pod default/p']]);
});

test('a reference that no listing answers to is asked for at the runtime, once', async (t) => {
  const { world, runtime, ask } = scene(['odd']);
  const odd = world.images.get('sha256:b');
  if (odd !== undefined) world.images.set('odd', odd);
  const images = [...world.images.values()];
  t.is(images.length, 3);
  t.deepEqual((await ask()).unresolved, []);
  t.deepEqual([...(await ask()).users], [['sha256:b', 'used by container c0']]);
  t.deepEqual(runtime.targetsOf('imageStatus'), ['odd']);
});

test('what resolves to nothing protects nothing, is told once, and asked again when another image is there', async (t) => {
  const { world, runtime, claims, ask } = scene(['gone:1']);
  const use = await ask();
  t.is(use.users.size, 0);
  t.deepEqual(claims.newlyUnresolved(use), [{ reference: 'gone:1', container: 'c0' }]);
  t.deepEqual(claims.newlyUnresolved(await ask()), []);
  t.is(runtime.targetsOf('imageStatus').length, 1);
  putImage(world, 'new');
  await ask();
  t.is(runtime.targetsOf('imageStatus').length, 2);
});

test('a runtime that refuses a reference knows no such image; one that does not answer leaves all unknown', async (t) => {
  const refused = scene(['gone:1']);
  refused.runtime.fail('imageStatus', 'failed');
  t.is((await refused.ask()).unresolved.length, 1);
  const silent = scene(['gone:1']);
  silent.runtime.fail('imageStatus', 'unavailable');
  await t.throwsAsync(silent.ask(), { message: /unavailable/ });
});
