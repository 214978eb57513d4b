import test from 'ava';
import { POLICIES, type ProfileName } from '../../src/eviction/policy.js';
import { type Candidate, rankPods } from '../../src/eviction/rank.js';
import type { Signal } from '../../src/eviction/signal.js';
import { candidate } from '../fakes/builders.js';

/** `[name, priority, usage, request]`; null = unknown. */
type Row = readonly [name: string, priority: number | null, usage: number | null, request: number | null];

interface Scene {
  readonly signal: Signal;
  readonly pods: readonly Row[];
  /** Names, the first to go first. */
  readonly kubelet: readonly string[];
  /** Where it differs. */
  readonly reclaimd?: readonly string[];
}

function ranked(scene: Scene, profile: ProfileName): readonly string[] {
  const candidates = scene.pods.map(
    ([uid, priority, usage, request]): Candidate => candidate(uid, { priority, usage, request }),
  );
  return rankPods(candidates, scene.signal, POLICIES[profile]).map(({ uid }) => uid);
}

const order = test.macro((t, scene: Scene) => {
  t.deepEqual(ranked(scene, 'kubelet'), [...scene.kubelet]);
  t.deepEqual(ranked(scene, 'reclaimd'), [...(scene.reclaimd ?? scene.kubelet)]);
});

test('over its request goes before lower priority', order, {
  signal: 'memory.available',
  pods: [
    ['under', -1, 199, 200],
    ['over', 1, 101, 100],
  ],
  kubelet: ['over', 'under'],
});
test('exactly at its request is not over it', order, {
  signal: 'nodefs.available',
  pods: [
    ['at', 0, 200, 200],
    ['over', 1, 101, 100],
  ],
  kubelet: ['over', 'at'],
});
test('over the request, then priority, then what is used beyond it', order, {
  signal: 'memory.available',
  pods: [
    ['under-high-small', 1, 200, 1_000],
    ['under-high-big', 1, 800, 1_000],
    ['under-low-small', -1, 200, 1_000],
    ['under-low-big', -1, 800, 1_000],
    ['over-high-small', 1, 150, 100],
    ['over-high-big', 1, 600, 100],
    ['over-low-small', -1, 50, 0],
    ['over-low-big', -1, 500, 0],
  ],
  kubelet: [
    'over-low-big',
    'over-low-small',
    'over-high-big',
    'over-high-small',
    'under-low-big',
    'under-low-small',
    'under-high-big',
    'under-high-small',
  ],
});
test('among equal priorities what is beyond the request decides, not the use', order, {
  signal: 'nodefs.available',
  pods: [
    ['be-big', 0, 300, 0],
    ['be-small', 0, 100, 0],
    ['bu-big', 0, 350, 100],
    ['bu-small', 0, 110, 100],
    ['gu-big', 0, 375, 400],
    ['gu-small', 0, 120, 400],
  ],
  kubelet: ['be-big', 'bu-big', 'be-small', 'bu-small', 'gu-big', 'gu-small'],
});
test('a priority that nobody says counts as 0', order, {
  signal: 'nodefs.available',
  pods: [
    ['one', 1, 5, 0],
    ['none', null, 5, 0],
    ['minus', -1, 5, 0],
  ],
  kubelet: ['minus', 'none', 'one'],
});
test('a request that nobody says counts as 0', order, {
  signal: 'nodefs.available',
  pods: [
    ['asked', 0, 50, 10],
    ['unasked', 0, 45, null],
  ],
  kubelet: ['unasked', 'asked'],
});
test('a pod without numbers goes first in the kubelet; unknown is not guilty here', order, {
  signal: 'nodefs.available',
  pods: [
    ['within', -1, 5, 10],
    ['hog', -1, 900, 0],
    ['blind', 1, null, 0],
  ],
  kubelet: ['blind', 'hog', 'within'],
  reclaimd: ['hog', 'blind', 'within'],
});
test('among pods without numbers priority decides', order, {
  signal: 'memory.available',
  pods: [
    ['high', 1, null, 0],
    ['low', -1, null, 0],
  ],
  kubelet: ['low', 'high'],
});
test('processes: priority, then how many', order, {
  signal: 'pid.available',
  pods: [
    ['high-few', 1, 5, 0],
    ['high-many', 1, 20, 0],
    ['low-few', -1, 6, 0],
    ['low-many', -1, 20, 0],
  ],
  kubelet: ['low-many', 'low-few', 'high-many', 'high-few'],
});
test('processes: priority goes before missing numbers', order, {
  signal: 'pid.available',
  pods: [
    ['blind', 1, null, 0],
    ['hog', -1, 900, 0],
  ],
  kubelet: ['hog', 'blind'],
});
test('processes: at one priority missing numbers go first in the kubelet, last here', order, {
  signal: 'pid.available',
  pods: [
    ['few', 0, 1, 0],
    ['blind', 0, null, 0],
    ['blind-too', 0, null, 0],
  ],
  kubelet: ['blind', 'blind-too', 'few'],
  reclaimd: ['few', 'blind', 'blind-too'],
});
test('processes cannot be requested: a request of bytes does not count', order, {
  signal: 'pid.available',
  pods: [
    ['few', 0, 5, 0],
    ['many', 0, 20, 2 ** 30],
  ],
  kubelet: ['many', 'few'],
});
test('inodes: the kubelet subtracts the byte request, reclaimd counts inodes', order, {
  signal: 'nodefs.inodesFree',
  pods: [
    ['few', 0, 10, 0],
    ['many-but-asked-bytes', 0, 900_000, 2 ** 30],
  ],
  kubelet: ['few', 'many-but-asked-bytes'],
  reclaimd: ['many-but-asked-bytes', 'few'],
});
test('inodes: any use exceeds the request, whatever bytes were asked for', order, {
  signal: 'imagefs.inodesFree',
  pods: [
    ['none', -1, 0, 0],
    ['some', 1, 1, 2 ** 30],
  ],
  kubelet: ['some', 'none'],
});
test('a filesystem that no pod uses: the smallest request goes first', order, {
  signal: 'imagefs.available',
  pods: [
    ['asked-1Gi', 0, 0, 2 ** 30],
    ['asked-none', 0, 0, 0],
  ],
  kubelet: ['asked-none', 'asked-1Gi'],
});
test('equal excess: here the larger use goes first, in the kubelet the first listed', order, {
  signal: 'nodefs.available',
  pods: [
    ['small', 0, 110, 100],
    ['large', 0, 510, 500],
  ],
  kubelet: ['small', 'large'],
  reclaimd: ['large', 'small'],
});
test('equal pods keep their order', order, {
  signal: 'nodefs.available',
  pods: [
    ['b', 0, 5, 1],
    ['a', 0, 5, 1],
    ['c', 0, 5, 1],
  ],
  kubelet: ['b', 'a', 'c'],
});
test('nobody to rank', order, { signal: 'nodefs.available', pods: [], kubelet: [] });

test('a standing says what decided it', (t) => {
  const of = (signal: Signal, changes: Partial<Candidate>, profile: ProfileName) => {
    const [standing] = rankPods([candidate('a', changes)], signal, POLICIES[profile]);
    return [standing?.isOverRequest, standing?.excess];
  };
  t.deepEqual(of('nodefs.available', { usage: 150, request: 100 }, 'reclaimd'), [true, 50]);
  t.deepEqual(of('nodefs.available', { usage: 50, request: 100 }, 'reclaimd'), [false, -50]);
  t.deepEqual(of('nodefs.available', { usage: 50, request: null }, 'reclaimd'), [true, 50]);
  t.deepEqual(of('nodefs.available', { usage: null, request: 100 }, 'reclaimd'), [null, null]);
  t.deepEqual(of('nodefs.inodesFree', { usage: 50, request: 100 }, 'reclaimd'), [true, 50]);
  t.deepEqual(of('nodefs.inodesFree', { usage: 50, request: 100 }, 'kubelet'), [true, -50]);
  t.deepEqual(of('pid.available', { usage: 50, request: 100 }, 'kubelet'), [true, 50]);
});

/** `[name, priority, usage, request, fills the disk]`. */
type Filler = readonly [name: string, priority: number, usage: number | null, request: number, isFilling: boolean];

function rankedFillers(rows: readonly Filler[], profile: ProfileName): readonly string[] {
  const candidates = rows.map(([uid, priority, usage, request, isFilling]) =>
    candidate(uid, { priority, usage, request, isFilling }),
  );
  return rankPods(candidates, 'nodefs.available', POLICIES[profile]).map(({ uid }) => uid);
}

for (const [title, rows, kubelet, reclaimd] of [
  [
    'among those alike the one that fills the disk goes first, then the larger',
    [
      ['big', 0, 900, 0, false],
      ['writer', 0, 40, 0, true],
      ['bigger-writer', 0, 60, 0, true],
      ['small', 0, 4, 0, false],
    ],
    ['big', 'bigger-writer', 'writer', 'small'],
    ['bigger-writer', 'writer', 'big', 'small'],
  ],
  [
    'one that fills the disk within its request stays behind those over theirs',
    [
      ['writer', 0, 40, 100, true],
      ['over', 0, 5, 0, false],
    ],
    ['over', 'writer'],
    ['over', 'writer'],
  ],
  [
    'one that fills the disk with a higher priority stays behind those with a lower one',
    [
      ['writer', 5, 40, 0, true],
      ['low', 0, 5, 0, false],
    ],
    ['low', 'writer'],
    ['low', 'writer'],
  ],
  [
    'one of unknown use that fills the disk stays behind those known to be over their request',
    [
      ['blind-writer', 0, null, 0, true],
      ['blind', 0, null, 0, false],
      ['over', 0, 5, 0, false],
    ],
    ['blind-writer', 'blind', 'over'],
    ['over', 'blind-writer', 'blind'],
  ],
] as const satisfies readonly (readonly [string, readonly Filler[], readonly string[], readonly string[]])[]) {
  test(title, (t) => {
    t.deepEqual(rankedFillers(rows, 'kubelet'), [...kubelet]);
    t.deepEqual(rankedFillers(rows, 'reclaimd'), [...reclaimd]);
  });
}
