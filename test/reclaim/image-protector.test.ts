import test from 'ava';
import type { ImageConfig } from '../../src/ports/image-configs.js';
import { ImageProtector, namesOnly } from '../../src/reclaim/image-protector.js';
import { bytes } from '../../src/units/units.js';
import { at } from '../fakes/builders.js';
import { emptyWorld, putImage } from '../fakes/scenery.js';

const { signal } = new AbortController();
const KEEP = { ...namesOnly([]), labels: [{ text: 'keep', key: 'keep', value: null }] };
const CONFIG: ImageConfig = { labels: { keep: '' }, builtAt: null, layers: [] };

function images(...names: readonly string[]) {
  const world = emptyWorld();
  for (const name of names) putImage(world, name);
  return [...world.images.values()];
}

/** Answers for `a` that it is to be kept, for `silent` with a failure, for `bare` with nothing. */
function configs() {
  const asked: string[] = [];
  const imageConfig = async (id: string) => {
    asked.push(id);
    if (id === 'sha256:silent') throw new Error('no answer');
    if (id === 'sha256:bare') return null;
    return id === 'sha256:a' ? CONFIG : { ...CONFIG, labels: {} };
  };
  return { asked, imageConfig };
}

test('labels are asked for once in the life of an image', async (t) => {
  const port = configs();
  const protector = new ImageProtector(KEEP, port);
  const kept = async (...names: readonly string[]) => {
    const listed = images(...names);
    const { by } = await protector.over(listed, () => null, signal);
    return listed.filter((each) => by(each) !== null).map((each) => each.id);
  };
  t.deepEqual(await kept('a', 'b'), ['sha256:a']);
  t.deepEqual(await kept('a', 'b'), ['sha256:a']);
  t.deepEqual(port.asked, ['sha256:a', 'sha256:b']);
  await kept('b');
  await kept('a', 'b');
  t.deepEqual(port.asked.slice(2), ['sha256:a'], 'pulled again it is a new one');
});

test('an image that cannot be asked stays and is asked again; one that tells nothing is not', async (t) => {
  const port = configs();
  const protector = new ImageProtector(KEEP, port);
  for (let time = 0; time < 2; time += 1) {
    const { by } = await protector.over(images('silent', 'bare'), () => null, signal);
    t.true(images('silent', 'bare').every((each) => by(each) === 'a rule on labels, as its own cannot be told'));
  }
  t.deepEqual(port.asked, ['sha256:silent', 'sha256:bare', 'sha256:silent']);
});

test('rules on names ask nobody', async (t) => {
  const port = configs();
  await new ImageProtector(namesOnly(['a:*']), port).over(images('a'), () => null, signal);
  t.deepEqual(port.asked, []);
});

test('a rule that fits nothing is told once, and again after it has fitted', async (t) => {
  const protector = new ImageProtector(namesOnly(['a:*', 'b:*']));
  const news = async (...names: readonly string[]) =>
    protector.newlyUnused(await protector.over(images(...names), () => null, signal));
  t.deepEqual(await news('a'), ['b:*']);
  t.deepEqual(await news('a'), []);
  t.deepEqual(await news('b'), ['a:*']);
  t.deepEqual(await news('a'), ['b:*']);
});

test('space that rules hold is told when it begins to count, and not again while it lasts', (t) => {
  const protector = new ImageProtector(namesOnly([]));
  const held = [{ size: bytes(3) }, { size: bytes(4) }];
  t.is(protector.newlyHeld([], true, at(0)), null);
  t.deepEqual(protector.newlyHeld(held, true, at(1)), { images: 2, claimed: bytes(7) });
  t.is(protector.newlyHeld(held, true, at(2)), null);
  t.is(protector.newlyHeld(held, true, at(400)), null, 'the next periodic run');
  t.is(protector.newlyHeld(held, false, at(401)), null);
  t.deepEqual(protector.newlyHeld(held, true, at(402)), { images: 2, claimed: bytes(7) });
  t.deepEqual(protector.newlyHeld(held, true, at(1_402)), { images: 2, claimed: bytes(7) }, 'long after');
});
