import test from 'ava';
import { imageKeysInUse } from '../../src/gc/image-keys-in-use.js';
import { image, user } from '../fakes/builders.js';

const listed = (id: string, tags: readonly string[] = []) => ({ ...image(id, { tags }), runtimeHandler: '' });
const IMAGES = [listed('sha256:a', ['docker.io/library/data:1']), listed('sha256:b'), listed('sha256:c')];
const keys = (users: Parameters<typeof user>[1][], volumes: readonly string[] = [], isHandlerAware = false) =>
  [
    ...imageKeysInUse(
      IMAGES,
      users.map((each, index) => user(`container-${index}`, each)),
      volumes.map((reference) => ({ container: 'container-0', reference })),
      isHandlerAware,
    ),
  ].filter((key) => key.startsWith('sha256'));

test('the image id of a container is in use, or what it names where there is no id', (t) => {
  t.deepEqual(keys([{ imageId: 'sha256:b' }]), ['sha256:b']);
  t.deepEqual(keys([{ imageRef: 'sha256:c' }]), ['sha256:c']);
});

test('a name that is no id protects the image that it means', (t) => {
  t.deepEqual(keys([{ imageId: 'data:1' }]), ['sha256:a']);
});

test('an image mounted as a volume is in use by its id, and by its name too', (t) => {
  t.deepEqual(keys([], ['sha256:b']), ['sha256:b']);
  t.deepEqual(keys([], ['docker.io/library/data:1']), ['sha256:a']);
});

test('where handlers tell images apart names are not looked up, as in the kubelet', (t) => {
  t.deepEqual(keys([{ imageId: 'data:1' }], ['docker.io/library/data:1'], true), []);
  t.deepEqual(keys([], ['sha256:b'], true), ['sha256:b']);
});
