import test from 'ava';
import { assess } from '../../src/eviction/assess.js';
import { type Decision, decide, isEvictionOver, isGoalReached, isRelieved } from '../../src/eviction/decide.js';
import type { FsLayout } from '../../src/eviction/layout.js';
import type { Observation } from '../../src/eviction/observe.js';
import type { ProfileName } from '../../src/eviction/policy.js';
import { type EvictionState, type EvictionUnderWay, INITIAL_STATE } from '../../src/eviction/state.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import { at, observation, seen, settingsOf, stateWith, threshold } from '../fakes/builders.js';

const NODEFS = threshold('nodefs.available', '10%', { minReclaim: '5%' });
const NODEFS_SOFT = threshold('nodefs.available', '20%', { graceSeconds: 60 });
const NODEFS_INODES = threshold('nodefs.inodesFree', '5%');
const IMAGEFS = threshold('imagefs.available', '15%');
const CONTAINERFS = threshold('containerfs.available', '10%');
const MEMORY = threshold('memory.available', '10%');
const ALLOCATABLE = threshold('allocatableMemory.available', '10%');
const PIDS = threshold('pid.available', '10%');
const ALL = [PIDS, NODEFS, IMAGEFS, CONTAINERFS, NODEFS_INODES, ALLOCATABLE, MEMORY];
const ALL_LOW = ALL.map((each) => observation(each.signal, 10));

function decided(
  thresholds: readonly Threshold[],
  observations: readonly Observation[],
  layout: FsLayout,
  profile: ProfileName = 'reclaimd',
  state: EvictionState = INITIAL_STATE,
): Decision {
  const settings = settingsOf(thresholds, profile);
  const look = seen(...observations);
  return decide(state, assess(state, look, at(0), settings), look, layout, settings);
}

/** Groups as texts: `nodefs.available+imagefs.available: containers, images`. */
function groups(decision: Decision): readonly string[] {
  return decision.kind === 'rest'
    ? []
    : decision.pressed.map(
        ({ thresholds, steps }) =>
          `${thresholds.map((each) => each.signal).join('+')}: ${steps.join(', ') || 'nothing'}`,
      );
}

test('nothing due: rest', (t) => {
  t.deepEqual(decided(ALL, [observation('nodefs.available', 900)], 'one-disk'), { kind: 'rest' });
});

for (const [layout, expected] of [
  ['one-disk', ['nodefs.available+imagefs.available+containerfs.available+nodefs.inodesFree: containers, images']],
  [
    'image-disk',
    ['nodefs.available+nodefs.inodesFree: containers', 'imagefs.available+containerfs.available: containers, images'],
  ],
  [
    'split-disks',
    ['nodefs.available+containerfs.available+nodefs.inodesFree: containers', 'imagefs.available: images'],
  ],
] as const) {
  test(`${layout}: signals that share a device are served together, memory first`, (t) => {
    const decision = decided(ALL, ALL_LOW, layout);
    t.is(decision.kind, 'serve');
    t.deepEqual(groups(decision), [
      'allocatableMemory.available+memory.available: nothing',
      'pid.available: nothing',
      ...expected,
    ]);
  });

  test(`${layout}: the kubelet serves one pressure per pass`, (t) => {
    t.deepEqual(groups(decided(ALL.slice(1), ALL_LOW, layout, 'kubelet')), [
      'allocatableMemory.available+memory.available: nothing',
    ]);
  });
}

test('the most urgent threshold names the pressure, and the goal is the stricter target', (t) => {
  const settings = settingsOf([NODEFS_SOFT, NODEFS]);
  const look = seen(observation('nodefs.available', 50));
  const state = stateWith({ firstMet: new Map([[NODEFS_SOFT.id, at(0)]]) });
  const decision = decide(state, assess(state, look, at(60), settings), look, 'one-disk', settings);
  t.is(decision.kind, 'serve');
  const [pressed] = decision.kind === 'serve' ? decision.pressed : [];
  t.is(pressed?.threshold, NODEFS);
  t.deepEqual(pressed?.thresholds, [NODEFS, NODEFS_SOFT]);
  t.deepEqual(pressed?.goals, [{ signal: 'nodefs.available', line: 200, target: 200 }]);
});

test('a soft threshold in its grace is no goal', (t) => {
  const decision = decided([NODEFS_SOFT, NODEFS], [observation('nodefs.available', 50)], 'one-disk');
  t.is(decision.kind, 'serve');
  t.deepEqual(decision.kind === 'serve' ? decision.pressed[0]?.goals : [], [
    { signal: 'nodefs.available', line: 100, target: 150 },
  ]);
});

test('each signal at stake has its goal', (t) => {
  const decision = decided(
    [NODEFS, NODEFS_INODES],
    [observation('nodefs.available', 50), observation('nodefs.inodesFree', 10)],
    'one-disk',
  );
  t.deepEqual(decision.kind === 'serve' ? decision.pressed[0]?.goals : [], [
    { signal: 'nodefs.available', line: 100, target: 150 },
    { signal: 'nodefs.inodesFree', line: 50, target: 50 },
  ]);
});

test('a threshold whose numbers are not there has no goal', (t) => {
  const settings = settingsOf([NODEFS]);
  const judged = assess(INITIAL_STATE, seen(observation('nodefs.available', 50)), at(0), settings);
  const decision = decide(INITIAL_STATE, judged, seen(), 'one-disk', settings);
  t.deepEqual(decision.kind === 'serve' ? decision.pressed[0]?.goals : null, []);
});

test('while an eviction is under way, pressure is held, not served; the kubelet does not wait for its effect', (t) => {
  const state = stateWith({ evictionUnderWay: underWay({}) });
  const decision = decided([NODEFS], [observation('nodefs.available', 50)], 'one-disk', 'reclaimd', state);
  t.is(decision.kind, 'hold');
  t.deepEqual(groups(decision), ['nodefs.available: containers, images']);
  t.is(decided([NODEFS], [observation('nodefs.available', 50)], 'one-disk', 'kubelet', state).kind, 'serve');
});

test('relief: reclaimd asks the pressed device, the kubelet every configured threshold', (t) => {
  const thresholds = [NODEFS, MEMORY];
  const first = decided(thresholds, [observation('nodefs.available', 50)], 'one-disk');
  const [pressed] = first.kind === 'serve' ? first.pressed : [];
  if (pressed === undefined) return t.fail('nodefs is under pressure');
  for (const [available, memory, reclaimd, kubelet] of [
    [149, 900, false, false],
    [150, 900, true, true],
    [150, 50, true, false],
  ] as const) {
    const look = seen(observation('nodefs.available', available), observation('memory.available', memory));
    t.is(isRelieved(pressed, look, settingsOf(thresholds, 'reclaimd')), reclaimd, `${available}, ${memory}`);
    t.is(isRelieved(pressed, look, settingsOf(thresholds, 'kubelet')), kubelet, `${available}, ${memory}`);
  }
  t.false(isRelieved(pressed, seen(), settingsOf(thresholds)), 'what cannot be seen is not relieved');
});

test('of two lines with one target the first is the goal’s; of two targets the higher', (t) => {
  const soft = (limit: string, id: string) => threshold('nodefs.available', limit, { id });
  for (const [second, expected] of [
    ['15%', [100, 150]],
    ['160', [160, 160]],
  ] as const) {
    const decision = decided([NODEFS, soft(second, 'second')], [observation('nodefs.available', 50)], 'one-disk');
    const goals = decision.kind === 'serve' ? decision.pressed.flatMap((each) => each.goals) : [];
    t.deepEqual<unknown, unknown>(
      goals.map(({ line, target }) => [line, target]),
      [expected],
    );
  }
});

test('a goal is reached exactly at its target, and never unseen', (t) => {
  const goal = { signal: 'nodefs.available', line: 100, target: 150 } as const;
  t.true(isGoalReached(goal, seen(observation('nodefs.available', 150))));
  t.false(isGoalReached(goal, seen(observation('nodefs.available', 149))));
  t.false(isGoalReached(goal, seen(observation('imagefs.available', 900))));
});

function underWay(changes: Partial<EvictionUnderWay>): EvictionUnderWay {
  return {
    podUid: 'a',
    podLabel: 'default/a',
    signal: 'nodefs.available',
    availableBefore: 100,
    expected: 50,
    killedAt: at(0),
    waitUntil: at(30),
    isGone: true,
    ...changes,
  };
}

for (const [title, eviction, available, now, expected] of [
  ['no eviction is over', null, 0, 0, true],
  ['gone and measured', underWay({}), 150, 5, true],
  ['gone, and not all of it came back', underWay({}), 149, 5, false],
  ['measured, but not known to be gone', underWay({ isGone: false }), 150, 5, false],
  ['waited for long enough', underWay({}), 100, 30, true],
  ['a moment before that', underWay({}), 100, 29, false],
  ['nobody knows what to expect: waited for', underWay({ expected: null }), 900, 29, false],
  ['nobody knows what to expect, and the time is up', underWay({ expected: null }), 100, 30, true],
  ['the signal cannot be seen', underWay({}), null, 29, false],
  ['the signal cannot be seen, and the time is up', underWay({}), null, 30, true],
] as const) {
  test(`an eviction under way: ${title}`, (t) => {
    const look = available === null ? seen() : seen(observation('nodefs.available', available));
    t.is(isEvictionOver(stateWith({ evictionUnderWay: eviction }), look, at(now)), expected);
  });
}

test('what containerfs was given is no goal of its own beside its original, and the goal where that is not due', (t) => {
  const derived: Threshold = { ...CONTAINERFS, isDerived: true };
  const goals = (thresholds: readonly Threshold[]) => {
    const decision = decided(thresholds, ALL_LOW, 'one-disk');
    return decision.kind === 'rest' ? [] : decision.pressed.flatMap((each) => each.goals.map(({ signal }) => signal));
  };
  t.deepEqual(goals([NODEFS, derived]), ['nodefs.available']);
  t.deepEqual(goals([NODEFS, NODEFS_INODES, derived]), ['nodefs.available', 'nodefs.inodesFree']);
  t.deepEqual(goals([derived]), ['containerfs.available']);
});
