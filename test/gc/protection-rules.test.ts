import test from 'ava';
import type { PlannedImage } from '../../src/gc/inventory.js';
import { compileRules, type ImageFacts, type ProtectionRules } from '../../src/gc/protection-rules.js';
import { at, image } from '../fakes/builders.js';

const NO_RULES: ProtectionRules = { patterns: [], expressions: [], labels: [], newestPerRepository: 0 };
const NO_FACTS: ImageFacts = { labels: () => null, firstSeen: () => null, builtAt: () => null };

function protectionOf(
  rules: Partial<ProtectionRules>,
  images: readonly PlannedImage[],
  facts: Partial<ImageFacts> = {},
) {
  return compileRules({ ...NO_RULES, ...rules })(images, { ...NO_FACTS, ...facts });
}

function kept(rules: Partial<ProtectionRules>, images: readonly PlannedImage[], facts: Partial<ImageFacts> = {}) {
  const { by } = protectionOf(rules, images, facts);
  return images.filter((each) => by(each) !== null).map((each) => each.id);
}

const NGINX = image('a', { tags: ['nginx:1.27'] });
const APP = image('b', { tags: ['registry.local/team/app:7'] });

test('an expression protects where it fits anywhere in a name, as listed or in full form', (t) => {
  t.deepEqual(kept({ expressions: ['team/'] }, [NGINX, APP]), ['b']);
  t.deepEqual(kept({ expressions: ['^docker\\.io/library/'] }, [NGINX, APP]), ['a']);
  t.deepEqual(kept({ expressions: ['^nginx:1\\.2\\d$'] }, [NGINX, APP]), ['a']);
  t.deepEqual(kept({ expressions: ['^team'] }, [NGINX, APP]), []);
});

const LABELS: ImageFacts['labels'] = (id) => (id === 'a' ? { keep: 'yes', tier: 'db-1' } : {});

for (const [label, ids, why] of [
  [{ text: 'keep', key: 'keep', value: null }, ['a'], 'the key is there'],
  [{ text: 'keep=yes', key: 'keep', value: 'yes' }, ['a'], 'the value fits'],
  [{ text: 'keep=ye', key: 'keep', value: 'ye' }, [], 'the whole value must fit'],
  [{ text: 'tier=db-*', key: 'tier', value: 'db-*' }, ['a'], 'a star in the value'],
  [{ text: 'toString', key: 'toString', value: null }, [], 'no label of that name'],
] as const) {
  test(`the label rule ${label.text} keeps ${ids.length === 0 ? 'nothing' : 'one'}: ${why}`, (t) => {
    t.deepEqual(kept({ labels: [label] }, [NGINX, APP], { labels: LABELS }), [...ids]);
  });
}

test('an image whose labels nobody tells stays while there is a rule on labels', (t) => {
  const { by } = protectionOf({ labels: [{ text: 'keep', key: 'keep', value: null }] }, [NGINX]);
  t.is(by(NGINX), 'a rule on labels, as its own cannot be told');
  t.is(protectionOf({ patterns: ['x'] }, [NGINX]).by(NGINX), null);
});

test('the newest of each repository stay: what came last, then what was built last', (t) => {
  const images = [
    image('old', { tags: ['app:1'] }),
    image('new', { tags: ['app:2'] }),
    image('built-late', { tags: ['docker.io/library/tool:1'] }),
    image('built-early', { digests: ['tool@sha256:00'] }),
    image('nameless'),
  ];
  const facts: Partial<ImageFacts> = {
    firstSeen: (id) => (id === 'new' ? at(9) : at(1)),
    builtAt: (id) => (id === 'built-late' ? at(5) : id === 'built-early' ? at(4) : null),
  };
  t.deepEqual(kept({ newestPerRepository: 1 }, images, facts), ['new', 'built-late']);
  t.deepEqual(kept({ newestPerRepository: 2 }, images, facts), ['old', 'new', 'built-late', 'built-early']);
  const { by } = protectionOf({ newestPerRepository: 1 }, images, facts);
  t.is(by(images[1] ?? NGINX), 'the rule that the newest 1 of docker.io/library/app stay');
});

test('an image that nobody has seen before is the newest', (t) => {
  const images = [image('known', { tags: ['app:1'] }), image('unknown', { tags: ['app:2'] })];
  t.deepEqual(kept({ newestPerRepository: 1 }, images, { firstSeen: (id) => (id === 'known' ? at(1) : null) }), [
    'unknown',
  ]);
});

test('rules that fit no image are told as they are written, all others are not', (t) => {
  const rules = {
    patterns: ['nginx:*', 'gone:1'],
    expressions: ['^registry', 'x{9}'],
    labels: [
      { text: 'keep', key: 'keep', value: null },
      { text: 'lost', key: 'lost', value: null },
    ],
    newestPerRepository: 3,
  };
  t.deepEqual(protectionOf(rules, [NGINX, APP], { labels: LABELS }).unused(), ['gone:1', '/x{9}/', 'label lost']);
  t.deepEqual(protectionOf({ patterns: ['a'] }, []).unused(), ['a']);
});
