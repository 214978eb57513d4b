import test from 'ava';
import { type ImageWants, imagesInUse } from '../../src/gc/image-use.js';
import type { ImageUser } from '../../src/gc/inventory.js';
import { image, user } from '../fakes/builders.js';

const NOTHING: ImageWants = { sandboxImage: null, volumes: [] };
const ID = `sha256:${'0123456789abcdef'.repeat(4)}`;
const OTHER = `sha256:${'fedcba9876543210'.repeat(4)}`;
const DIGEST = `sha256:${'a'.repeat(64)}`;
const IMAGES = [
  image(ID, { tags: ['docker.io/library/nginx:1.27'], digests: [`docker.io/library/nginx@${DIGEST}`] }),
  image(OTHER, { tags: ['registry.k8s.io/pause:3.10'] }),
];

const uses = test.macro((t, container: Partial<ImageUser>, expected: readonly string[]) => {
  const { users, unresolved } = imagesInUse(IMAGES, [user('c', container)], NOTHING);
  t.deepEqual([...users.keys()].sort(), [...expected].sort());
  t.is(unresolved.length, expected.length === 0 ? 1 : 0);
});

test('a container uses the image of its id', uses, { imageId: ID }, [ID]);
test('an id counts without its algorithm', uses, { imageId: ID.slice(7) }, [ID]);
test('the beginning of an id counts', uses, { imageRef: ID.slice(0, 19) }, [ID]);
test('fewer than twelve digits are a name, which nobody lists', uses, { imageRef: ID.slice(7, 18) }, []);
test('a tag counts in short form', uses, { image: 'nginx:1.27' }, [ID]);
test('a digest reference counts', uses, { imageRef: `nginx@${DIGEST}` }, [ID]);
test('a digest counts under another name', uses, { imageRef: `mirror.example.org/web@${DIGEST}` }, [ID]);
test('a bare digest counts', uses, { imageRef: DIGEST }, [ID]);
test('a bare digest counts without its algorithm', uses, { imageRef: DIGEST.slice(7) }, [ID]);
test('of tag and digest the tag counts where the digest is not listed', uses, { image: `nginx:1.27@${OTHER}x` }, [ID]);
test('a tag that is not listed is no user of the image', uses, { image: 'nginx:1.26' }, []);
test('a digest that is not listed is no user of the image', uses, { image: `web@sha256:${'b'.repeat(64)}` }, []);
test(
  'id and tag may name two images, and both are in use',
  uses,
  { imageId: ID, image: 'registry.k8s.io/pause:3.10' },
  [ID, OTHER],
);

test('two images of one index share its digest: a container that names it uses both', (t) => {
  const shared = [image(ID, { digests: [`web@${DIGEST}`] }), image(OTHER, { digests: [`web@${DIGEST}`] })];
  for (const reference of [DIGEST, `web@${DIGEST}`]) {
    const { users } = imagesInUse(shared, [user('c', { imageRef: reference })], NOTHING);
    t.deepEqual([...users.keys()].sort(), [ID, OTHER].sort());
  }
});

test('a text that is both a name and the beginning of an id names both images', (t) => {
  const listed = [image(ID), image(OTHER, { tags: [ID.slice(7, 19)] })];
  const { users } = imagesInUse(listed, [user('c', { image: ID.slice(7, 19) })], NOTHING);
  t.deepEqual([...users.keys()].sort(), [ID, OTHER].sort());
});

test('a beginning that fits two ids names both', (t) => {
  const twin = `${ID.slice(0, 30)}${'9'.repeat(41)}`;
  const { users } = imagesInUse([image(ID), image(twin)], [user('c', { imageRef: ID.slice(0, 25) })], NOTHING);
  t.deepEqual([...users.keys()].sort(), [ID, twin].sort());
});

test('a whole id is no beginning of another', (t) => {
  const short = ID.slice(0, 19);
  const { users } = imagesInUse([image(short), image(ID)], [user('c', { imageId: short })], NOTHING);
  t.deepEqual([...users.keys()], [short]);
});

test('a reference that resolves to nothing protects nothing, and is said', (t) => {
  const { users, unresolved } = imagesInUse(IMAGES, [user('c', { image: 'gone:1' })], NOTHING);
  t.is(users.size, 0);
  t.deepEqual(unresolved, [{ reference: 'gone:1', container: 'c' }]);
});

test('a container that names no image is nobody’s user, and there is nothing to say', (t) => {
  t.deepEqual(imagesInUse(IMAGES, [user('c')], NOTHING), { users: new Map(), unresolved: [] });
});

test('each user is named', (t) => {
  const { users } = imagesInUse(
    [...IMAGES, image('sha256:volume', { tags: ['data:1'] })],
    [user('abcdefghijklmnop', { imageId: ID })],
    {
      sandboxImage: 'registry.k8s.io/pause:3.10',
      volumes: [
        { container: 'zyxwvutsrqponml', reference: 'data:1' },
        { container: 'zyxwvutsrqponml', reference: 'not-listed:1' },
      ],
    },
  );
  t.deepEqual([...users].sort(), [
    [ID, 'used by container abcdefghijklm'],
    [OTHER, 'the sandbox image'],
    ['sha256:volume', 'mounted by container zyxwvutsrqpon'],
  ]);
});
