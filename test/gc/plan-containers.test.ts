import test from 'ava';
import { POLICIES, type ProfileName } from '../../src/eviction/policy.js';
import type { PlannedContainer } from '../../src/gc/inventory.js';
import { type ContainerPlanInput, isDead, planContainers } from '../../src/gc/plan-containers.js';
import { instant, milliseconds } from '../../src/units/units.js';
import { answers, container, identity } from '../fakes/builders.js';

const NOW = instant(1_700_000_000_000);
const HOUR = 3_600_000;

/** `[uid, name, createdAt, state]`; the id is the position, so that an expected list reads as positions. */
type Row = readonly [uid: string, name: string, createdAt: number, state?: PlannedContainer['state']];
type Limits = readonly [minAge: number, maxPerPodContainer: number | null, maxContainers: number | null];

function input(limits: Limits, rows: readonly Row[], changes: Partial<ContainerPlanInput> = {}): ContainerPlanInput {
  const [minAge, maxPerPodContainer, maxContainers] = limits;
  return {
    containers: rows.map(([uid, name, createdAt, state = 'exited'], index) =>
      container(`${index}`, { pod: identity(uid), name, createdAt: instant(createdAt), state }),
    ),
    limits: { minAge: milliseconds(minAge), maxPerPodContainer, maxContainers },
    pods: answers(),
    finishedPodsToo: false,
    lastOnesToo: false,
    createdCountsAsDead: true,
    now: NOW,
    ...changes,
  };
}

function plannedIds(given: ContainerPlanInput): readonly string[] {
  return planContainers(given).map(({ item }) => item.id);
}

const goes = test.macro((t, given: ContainerPlanInput, expected: readonly number[]) => {
  t.deepEqual(plannedIds(given), expected.map(String));
});

const pairs = (units: number): readonly Row[] =>
  Array.from({ length: units }, (_, unit) => [
    [`foo${unit}`, `bar${unit}`, 1],
    [`foo${unit}`, `bar${unit}`, 0],
  ]).flat() as unknown as readonly Row[];

// What the kubelet removes, by the numbers of its own tests.
test('a total limit of 0 removes everything', goes, input([60_000, 1, 0], [['foo', 'bar', 0]]), [0]);
test(
  'without limits nothing goes',
  goes,
  input(
    [60_000, null, null],
    [
      ['foo', 'bar', 2],
      ['foo', 'bar', 1],
    ],
  ),
  [],
);
test('what is too young stays', goes, input([HOUR, 0, 0], [['foo', 'bar', NOW]]), []);
test('an age of exactly the minimum is old enough', goes, input([HOUR, 0, null], [['a', 'x', NOW - HOUR]]), [0]);
test('a millisecond short of the minimum is too young', goes, input([HOUR, 0, null], [['a', 'x', NOW - HOUR + 1]]), []);
test(
  'a container from the future is too young, even without a minimum age',
  goes,
  input([0, 0, 0], [['a', 'x', NOW + 1]]),
  [],
);
test(
  'beyond the limit per container the oldest goes',
  goes,
  input(
    [HOUR, 2, 6],
    [
      ['foo', 'bar', 2],
      ['foo', 'bar', 1],
      ['foo', 'bar', 0],
    ],
  ),
  [2],
);
test(
  'a running container neither goes nor counts',
  goes,
  input(
    [HOUR, 2, 6],
    [
      ['foo', 'bar', 2],
      ['foo', 'bar', 1],
      ['foo', 'bar', 0, 'running'],
    ],
  ),
  [],
);
test('within the limits nothing goes', goes, input([HOUR, 2, 6], pairs(1)), []);
test('the total limit leaves each unit its share', goes, input([HOUR, 2, 6], pairs(5)), [1, 3, 5, 7, 9]);
test(
  'with more units than the total allows, the oldest go after the shares',
  goes,
  input(
    [HOUR, 2, 6],
    [
      ['foo', 'bar', 2],
      ['foo', 'bar', 1],
      ['foo1', 'bar1', 2],
      ['foo1', 'bar1', 1],
      ['foo2', 'bar2', 1],
      ['foo3', 'bar3', 0],
      ['foo4', 'bar4', 1],
      ['foo5', 'bar5', 0],
      ['foo6', 'bar6', 2],
      ['foo7', 'bar7', 1],
    ],
  ),
  // The ids order the equal ones: 5 and 7 are the oldest. Upstream keeps 4, 6, 8 and 9 as well.
  [1, 3, 5, 7],
);
test(
  'a share is rounded down and spare room is not given to others',
  goes,
  input(
    [0, null, 5],
    [
      ['a', 'x', 12],
      ['a', 'x', 11],
      ['a', 'x', 10],
      ['b', 'x', 22],
      ['b', 'x', 21],
      ['b', 'x', 20],
    ],
  ),
  [2, 5],
);
test(
  'the order is by creation, not by listing',
  goes,
  input(
    [0, 1, null],
    [
      ['a', 'x', 1],
      ['a', 'x', 2],
    ],
  ),
  [0],
);
test(
  'equal creation times are ordered by id',
  goes,
  input(
    [0, 1, null],
    [
      ['a', 'x', 1],
      ['a', 'x', 1],
      ['a', 'x', 1],
    ],
  ),
  [0, 1],
);
test(
  'two pods may have containers of one name, and one pod several: each is a unit of its own',
  goes,
  input(
    [0, 1, null],
    [
      ['a', 'x', 3],
      ['a', 'x', 2],
      ['a', 'y', 2],
      ['a', 'y', 1],
      ['b', 'x', 2],
    ],
  ),
  [1, 3],
);
test(
  'a pod that is gone loses its containers, whatever the limits, oldest first; the minimum age holds',
  goes,
  input(
    [HOUR, null, null],
    [
      ['foo', 'bar', 1],
      ['deleted', 'bar1', NOW],
      ['deleted', 'bar1', 1],
      ['deleted', 'bar1', 0],
    ],
    { pods: answers({ gone: ['deleted'] }) },
  ),
  [3, 2],
);
test(
  'until all sources of pods have delivered, nothing goes for its pod being gone or finished',
  goes,
  input([HOUR, 2, 6], [['deleted', 'bar1', 0]], {
    pods: answers({ gone: ['deleted'], finished: ['deleted'], allSourcesReady: false }),
    finishedPodsToo: true,
  }),
  [],
);
test(
  'until all sources have delivered, the limits act',
  goes,
  input(
    [0, 1, null],
    [
      ['a', 'x', 2],
      ['a', 'x', 1],
    ],
    { pods: answers({ finished: ['a'], allSourcesReady: false }), finishedPodsToo: true },
  ),
  [1],
);
test(
  'a finished pod keeps its containers in a periodic pass',
  goes,
  input([0, 1, null], [['a', 'x', 1]], { pods: answers({ finished: ['a'] }) }),
  [],
);
test(
  'under pressure a finished pod loses its containers, oldest first',
  goes,
  input(
    [HOUR, 2, 6],
    [
      ['foo', 'bar', 2],
      ['foo', 'bar', 1],
      ['live', 'bar2', 1],
    ],
    { pods: answers({ finished: ['foo'] }), finishedPodsToo: true },
  ),
  [1, 0],
);
test(
  'units whose pod is gone do not count towards the total',
  goes,
  input(
    [0, null, 1],
    [
      ['gone', 'x', 1],
      ['a', 'x', 2],
    ],
    { pods: answers({ gone: ['gone'] }) },
  ),
  [0],
);

test('each removal says why, in the order in which they go', (t) => {
  const plan = planContainers(
    input(
      [0, 2, 1],
      [
        ['live', 'x', 30],
        ['live', 'x', 20],
        ['live', 'x', 10],
        ['other', 'y', 40],
        ['finished', 'x', 50],
        ['gone', 'x', 60],
      ],
      { pods: answers({ gone: ['gone'], finished: ['finished', 'gone'] }), finishedPodsToo: true, lastOnesToo: true },
    ),
  );
  t.deepEqual(
    plan.map(({ item, why }) => [item.id, why]),
    [
      ['5', 'its pod is gone'],
      ['4', 'its pod has finished'],
      ['2', 'more than are kept per container'],
      ['1', 'more than are kept in all'],
      ['0', 'more than are kept in all'],
      ['3', 'the last of a live pod, under pressure'],
    ],
  );
});

test('a container without a pod identity is nobody of ours, even with limits of 0', (t) => {
  const given = input([0, 0, 0], [], { lastOnesToo: true });
  t.deepEqual(planContainers({ ...given, containers: [container('foreign', { pod: null })] }), []);
});

test('an empty list gives an empty plan', goes, input([0, 0, 0], []), []);

test('created and unknown ones count as dead in the kubelet profile', (t) => {
  const rows: readonly Row[] = [
    ['a', 'x', 3, 'created'],
    ['a', 'x', 2, 'unknown'],
    ['a', 'x', 1],
  ];
  t.deepEqual(plannedIds(input([0, 1, null], rows)), ['2', '1']);
});

test('the kubelet takes a container that was created just now for dead, and reclaimd does not', (t) => {
  const isDeadUnder = (profile: ProfileName) =>
    isDead(container('c', { state: 'created', createdAt: NOW }), NOW, POLICIES[profile].gc.createdCountsAsDead);
  t.true(isDeadUnder('kubelet'));
  t.false(isDeadUnder('reclaimd'));
});

for (const [title, state, age, createdCountsAsDead, expected] of [
  ['a running container is never dead', 'running', HOUR, true, false],
  ['an exited one is dead at once', 'exited', 0, false, true],
  ['one of unknown state is dead', 'unknown', 0, false, true],
  ['a created one is about to start for five minutes', 'created', 299_999, false, false],
  ['a created one of five minutes was abandoned', 'created', 300_000, false, true],
  ['a created one counts as dead at once where the kubelet is followed', 'created', 0, true, true],
] as const) {
  test(title, (t) => {
    t.is(isDead(container('c', { state, createdAt: instant(NOW - age) }), NOW, createdCountsAsDead), expected);
  });
}
