import test from 'ava';
import { deriveContainerfs, thresholdsOfFirstPass } from '../../src/eviction/containerfs.js';
import type { FsLayout } from '../../src/eviction/layout.js';
import { limitText } from '../../src/eviction/limit-text.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import { threshold } from '../fakes/builders.js';

const NODEFS = [
  threshold('nodefs.available', '100Mi', { minReclaim: '1Gi' }),
  threshold('nodefs.available', '200Mi', { minReclaim: '1Gi', graceSeconds: 1 }),
  threshold('nodefs.inodesFree', '201', { minReclaim: '2Gi', graceSeconds: 2 }),
  threshold('nodefs.inodesFree', '101', { minReclaim: '1Gi' }),
];
const IMAGEFS = [
  threshold('imagefs.available', '150Mi', { minReclaim: '1.5Gi' }),
  threshold('imagefs.available', '300Mi', { minReclaim: '3Gi', graceSeconds: 3 }),
  threshold('imagefs.inodesFree', '151', { minReclaim: '2Gi', graceSeconds: 4 }),
  threshold('imagefs.inodesFree', '301', { minReclaim: '2.5Gi' }),
];
const OWN = [
  threshold('containerfs.available', '500Mi', { minReclaim: '5Gi' }),
  threshold('containerfs.available', '500Mi', { minReclaim: '5Gi', graceSeconds: 5 }),
  threshold('containerfs.inodesFree', '500', { minReclaim: '5Gi', graceSeconds: 5 }),
  threshold('containerfs.inodesFree', '500', { minReclaim: '5Gi' }),
];

function text({ signal, urgency, limit, minReclaim }: Threshold): string {
  const grace = urgency.kind === 'hard' ? 'hard' : `${urgency.grace / 1_000} s`;
  return `${signal} ${grace} ${limitText(limit)} + ${minReclaim === null ? 'nothing' : limitText(minReclaim)}`;
}

const OF_NODEFS = [
  'containerfs.available hard 100Mi + 1Gi',
  'containerfs.available 1 s 200Mi + 1Gi',
  'containerfs.inodesFree hard 101 + 1Gi',
  'containerfs.inodesFree 2 s 201 + 2Gi',
];
const OF_IMAGEFS = [
  'containerfs.available hard 150Mi + 1.5Gi',
  'containerfs.available 3 s 300Mi + 3Gi',
  'containerfs.inodesFree hard 301 + 2.5Gi',
  'containerfs.inodesFree 4 s 151 + 2Gi',
];

for (const [layout, source, expected] of [
  ['one-disk', 'nodefs', OF_NODEFS],
  ['split-disks', 'nodefs', OF_NODEFS],
  ['image-disk', 'imagefs', OF_IMAGEFS],
] as const satisfies readonly (readonly [FsLayout, string, readonly string[]])[]) {
  test(`${layout}: containerfs gets the thresholds of ${source}, behind the others`, (t) => {
    const configured = [...NODEFS, ...IMAGEFS];
    const { thresholds, appended, replaced } = deriveContainerfs(configured, layout);
    t.deepEqual(thresholds.slice(0, configured.length), configured);
    const derived = thresholds.slice(configured.length);
    t.deepEqual(derived.map(text), expected);
    t.deepEqual(
      appended,
      derived.map((each) => each.id),
    );
    t.is(new Set(appended).size, 4, 'each has an id of its own');
    t.true(derived.every((each) => each.isDerived === true));
    t.deepEqual(replaced, []);
  });

  test(`${layout}: the user’s own containerfs thresholds are replaced where they stand, and named`, (t) => {
    const { thresholds, appended, replaced } = deriveContainerfs([...OWN, ...NODEFS, ...IMAGEFS], layout);
    const inPlace = thresholds.slice(0, OWN.length);
    t.deepEqual(inPlace.map(text), [expected[0], expected[1], expected[3], expected[2]] as string[]);
    t.deepEqual(thresholds.slice(OWN.length), [...NODEFS, ...IMAGEFS]);
    t.deepEqual(appended, []);
    t.deepEqual([...replaced].sort(), OWN.map((each) => each.id).sort());
  });
}

test('where there is nothing to copy, nothing is added', (t) => {
  const configured = [threshold('memory.available', '1Gi')];
  t.deepEqual(deriveContainerfs(configured, 'one-disk'), { thresholds: configured, appended: [], replaced: [] });
});

test('where there is nothing to copy, the user’s own entry goes: the kubelet makes it inert', (t) => {
  const own = threshold('containerfs.available', '1Gi');
  const memory = threshold('memory.available', '1Gi');
  t.deepEqual(deriveContainerfs([own, memory], 'one-disk'), { thresholds: [memory], appended: [], replaced: [own.id] });
});

test('of two equal sources the last one counts', (t) => {
  const { thresholds } = deriveContainerfs(
    [threshold('nodefs.available', '1Gi', { id: 'a' }), threshold('nodefs.available', '2Gi', { id: 'b' })],
    'one-disk',
  );
  t.deepEqual(thresholds.slice(2).map(text), ['containerfs.available hard 2Gi + nothing']);
});

test('of two equal entries of the user the last one is replaced, as in the kubelet', (t) => {
  const own = [
    threshold('containerfs.available', '5Gi', { id: 'first' }),
    threshold('containerfs.available', '6Gi', { id: 'last' }),
  ];
  const { thresholds, replaced } = deriveContainerfs([...own, threshold('nodefs.available', '1Gi')], 'one-disk');
  t.deepEqual(replaced, ['last']);
  t.deepEqual(thresholds.slice(0, 2).map(text), [
    'containerfs.available hard 5Gi + nothing',
    'containerfs.available hard 1Gi + nothing',
  ]);
});

const HARD = threshold('containerfs.available', '500Mi', { id: 'hard' });
const SOFT = threshold('containerfs.available', '700Mi', { id: 'soft', graceSeconds: 60 });
const INODES = threshold('containerfs.inodesFree', '700', { id: 'inodes' });
const INODES_SOFT = threshold('containerfs.inodesFree', '900', { id: 'inodes soft', graceSeconds: 60 });
const SOURCES = [
  threshold('nodefs.available', '1Gi'),
  threshold('nodefs.available', '2Gi', { graceSeconds: 60 }),
  threshold('nodefs.inodesFree', '5%'),
];
const DERIVED_HARD = 'containerfs.available/hard/derived';
const DERIVED_SOFT = 'containerfs.available/soft/derived';
const FIRST: readonly [title: string, own: readonly Threshold[], sources: readonly Threshold[], ids: string[]][] = [
  ['what is appended does not count', [], SOURCES, []],
  ['what is replaced before anything is appended counts', [HARD, SOFT], SOURCES, [DERIVED_HARD, DERIVED_SOFT]],
  [
    'all of it counts where nothing is appended',
    [HARD, SOFT, INODES, INODES_SOFT],
    SOURCES,
    [DERIVED_HARD, DERIVED_SOFT, 'containerfs.inodesFree/hard/derived'],
  ],
  ['what is replaced after something was appended is still the user’s', [SOFT, INODES], SOURCES, ['soft', 'inodes']],
  ['one that the disk has nothing for is gone at once', [HARD], [], []],
  ['or still there, after something inert was appended', [SOFT], [], ['soft']],
];

for (const [title, own, sources, ids] of FIRST) {
  test(`in the kubelet’s pass in which the layout is told, ${title}`, (t) => {
    const configured = [...own, ...sources];
    const first = thresholdsOfFirstPass(configured, deriveContainerfs(configured, 'one-disk'));
    t.deepEqual(
      first.map(({ id }) => id),
      [...ids, ...sources.map(({ id }) => id)],
    );
  });
}
