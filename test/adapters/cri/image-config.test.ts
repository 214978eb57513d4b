import test from 'ava';
import { imageConfigOf } from '../../../src/adapters/cri/image-config.js';
import { instant } from '../../../src/units/units.js';

const SPEC = {
  created: '2024-01-01T00:00:00Z',
  config: { Labels: { keep: 'yes', number: 3 } },
  rootfs: { type: 'layers', diff_ids: ['sha256:a', 'sha256:b'] },
};

test('labels, build time and layers come from the image’s own configuration', (t) => {
  t.deepEqual(imageConfigOf({ info: JSON.stringify({ chainID: 'sha256:c', imageSpec: SPEC }) }), {
    labels: { keep: 'yes' },
    builtAt: instant(Date.UTC(2024, 0, 1)),
    layers: ['sha256:a', 'sha256:b'],
  });
});

for (const [title, info] of [
  ['nothing at all', {}],
  ['what is no JSON', { info: '{' }],
  ['another form', { info: '{"labels":{}}' }],
  ['a list', { info: '[]' }],
] as const) {
  test(`a runtime that tells ${title} tells no configuration`, (t) => {
    t.is(imageConfigOf(info), null);
  });
}

test('a configuration that says next to nothing has no labels, no layers and no time', (t) => {
  const bare = { labels: {}, builtAt: null, layers: [] };
  t.deepEqual(imageConfigOf({ info: '{"imageSpec":{}}' }), bare);
  t.deepEqual(
    imageConfigOf({ info: '{"imageSpec":{"created":"soon","config":null,"rootfs":{"diff_ids":[1]}}}' }),
    bare,
  );
});
