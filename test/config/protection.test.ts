import test from 'ava';
import { loadSettings } from '../../src/config/load.js';

function load(text: string) {
  return loadSettings({ file: { path: 'f', text } });
}

for (const [yaml, code, text] of [
  ['protectedImageExpressions: ["a(b"]', 'BAD_EXPRESSION', 'at position 2: a(b'],
  ['protectedImageExpressions: ["(a+)+"]', 'BAD_EXPRESSION', 'at position 5: (a+)+'],
  ['protectedImageLabels: ["=x"]', 'BAD_VALUE', 'a label must have a key, such as keep or keep=true: =x'],
  ['imagesKeptPerRepository: -1', 'BAD_VALUE', 'the number must not be negative: -1'],
  ['ownerScope: mine', 'BAD_VALUE', 'one of all, gone-pods, images: mine'],
  ['protectedImages: [""]', 'BAD_VALUE', 'an item must not be empty'],
] as const) {
  test(`refused with ${code}: ${yaml}`, (t) => {
    const loaded = load(yaml);
    t.is(loaded.kind, 'refused');
    t.deepEqual(
      loaded.problems.map((each) => each.code),
      [code],
    );
    t.true(loaded.problems[0]?.message.includes(text), loaded.problems[0]?.message);
  });
}

test('a pattern that no reference can fit is a warning with its place, and holds all the same', (t) => {
  const loaded = load('protectedImages:\n  - nginx:*\n  - "my image"\n');
  t.is(loaded.kind, 'loaded');
  t.deepEqual(
    loaded.problems.map(({ code, severity, value }) => ({ code, severity, value })),
    [{ code: 'PATTERN_NEVER_FITS', severity: 'warning', value: 'my image' }],
  );
  t.deepEqual(loaded.kind === 'loaded' && loaded.settings.protectedImages, ['nginx:*', 'my image']);
});

test('a comma in the flag of an expression is part of it; other lists are split', (t) => {
  const loaded = loadSettings({
    flags: [
      { name: 'protect-image-expression', value: '^a{1,2}$' },
      { name: 'protect-image-expression', value: 'b' },
      { name: 'protect-image-label', value: 'x,y=1' },
    ],
  });
  t.deepEqual(loaded.kind === 'loaded' && loaded.settings.protectedImageExpressions, ['^a{1,2}$', 'b']);
  t.deepEqual(loaded.kind === 'loaded' && loaded.settings.protectedImageLabels, ['x', 'y=1']);
});

test('the annotation is on by default, off when empty, and off under the kubelet’s profile', (t) => {
  const annotationOf = (text: string) => {
    const loaded = load(text);
    return loaded.kind === 'loaded' ? loaded.settings.protectedAnnotation : 'refused';
  };
  t.is(annotationOf('{}'), 'reclaimd/protected');
  t.is(annotationOf('protectedAnnotation: ""'), null);
  t.is(annotationOf('profile: kubelet'), null);
  t.is(annotationOf('protectedAnnotation: example.org/keep'), 'example.org/keep');
});
