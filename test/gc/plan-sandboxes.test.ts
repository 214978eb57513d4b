import test from 'ava';
import type { PlannedSandbox } from '../../src/gc/inventory.js';
import { planSandboxes } from '../../src/gc/plan-sandboxes.js';
import { instant } from '../../src/units/units.js';
import { answers, identity, sandbox } from '../fakes/builders.js';

/** `[uid, state, createdAt]`; the id is the position. */
type Row = readonly [uid: string, state: PlannedSandbox['state'], createdAt: number];

interface Scene {
  readonly sandboxes: readonly Row[];
  /** Positions of sandboxes that a container belongs to. */
  readonly used?: readonly number[];
  readonly gone?: readonly string[];
  readonly finished?: readonly string[];
  readonly finishedPodsToo?: boolean;
}

const goes = test.macro((t, scene: Scene, expected: readonly (readonly [position: number, why: string])[]) => {
  const { used = [], gone = [], finished = [], finishedPodsToo = false } = scene;
  const plan = planSandboxes(
    scene.sandboxes.map(([uid, state, createdAt], index) =>
      sandbox(`${index}`, { pod: identity(uid), state, createdAt: instant(createdAt) }),
    ),
    used.map((position) => ({ sandboxId: `${position}` })),
    answers({ gone, finished }),
    finishedPodsToo,
  );
  t.deepEqual(
    plan.map(({ item, why }) => [Number(item.id), why]),
    expected.map((each) => [...each]),
  );
});

test('a ready sandbox stays, even if its pod is gone', goes, { sandboxes: [['a', 'ready', 0]], gone: ['a'] }, []);
test(
  'of a pod that exists an older sandbox goes',
  goes,
  {
    sandboxes: [
      ['a', 'notready', 1],
      ['a', 'notready', 0],
    ],
  },
  [[1, 'a newer one took its place']],
);
test(
  'an older sandbox with a container stays',
  goes,
  {
    sandboxes: [
      ['a', 'notready', 1],
      ['a', 'notready', 0],
    ],
    used: [1],
  },
  [],
);
test(
  'under pressure the sandbox of a finished pod goes, a ready one stays',
  goes,
  {
    sandboxes: [
      ['a', 'ready', 0],
      ['b', 'notready', 0],
    ],
    finished: ['a', 'b'],
    finishedPodsToo: true,
  },
  [[1, 'its pod has finished']],
);
test(
  'the only sandbox of a finished pod stays in a periodic pass',
  goes,
  { sandboxes: [['a', 'notready', 0]], finished: ['a'] },
  [],
);
test(
  'the only sandbox of a live pod stays under pressure',
  goes,
  { sandboxes: [['a', 'notready', 0]], finishedPodsToo: true },
  [],
);
test('the only sandbox with a container stays', goes, { sandboxes: [['a', 'notready', 0]], used: [0] }, []);
test(
  'several pods are judged each by itself',
  goes,
  {
    sandboxes: [
      ['a', 'ready', 1],
      ['a', 'notready', 0],
      ['b', 'notready', 1],
      ['b', 'notready', 0],
      ['gone', 'notready', 0],
    ],
    used: [2],
    gone: ['gone'],
    finished: ['gone'],
  },
  [
    [1, 'a newer one took its place'],
    [3, 'a newer one took its place'],
    [4, 'its pod is gone'],
  ],
);
test(
  'the oldest goes first, whatever the order of the list',
  goes,
  {
    sandboxes: [
      ['gone', 'notready', 1],
      ['gone', 'notready', 3],
      ['gone', 'notready', 2],
    ],
    gone: ['gone'],
  },
  [
    [0, 'its pod is gone'],
    [2, 'its pod is gone'],
    [1, 'its pod is gone'],
  ],
);
test(
  'of sandboxes made at one time the one with the greatest id counts as the newest',
  goes,
  {
    sandboxes: [
      ['a', 'notready', 0],
      ['a', 'notready', 0],
      ['a', 'notready', 0],
    ],
  },
  [
    [0, 'a newer one took its place'],
    [1, 'a newer one took its place'],
  ],
);
test('no sandboxes, no plan', goes, { sandboxes: [] }, []);
