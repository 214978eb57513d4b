import test from 'ava';
import { type Assessment, assess, type EvictionSettings } from '../../src/eviction/assess.js';
import { evolve } from '../../src/eviction/evolve.js';
import type { Observation } from '../../src/eviction/observe.js';
import type { ProfileName } from '../../src/eviction/policy.js';
import { type EvictionState, INITIAL_STATE } from '../../src/eviction/state.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import { at, observation, seen, settingsOf, sightOf, threshold } from '../fakes/builders.js';

const HARD = threshold('nodefs.available', '100', { minReclaim: '50' });
const SOFT = threshold('nodefs.available', '200', { graceSeconds: 60, minReclaim: '50' });
const MEMORY = threshold('memory.available', '100');

/** A look: the second, and what was available of nodefs (null = it cannot be seen) with the capacity if it is not 1000. */
type Look = readonly [seconds: number, available: number | null, capacity?: number];

function lookOf([seconds, available, capacity]: Look): readonly Observation[] {
  return available === null ? [] : [observation('nodefs.available', available, capacity, seconds)];
}

interface Told {
  readonly due: readonly string[];
  readonly conditions: readonly string[];
}

/** Plays looks one after the other and tells after each what is due and which conditions are reported. */
function play(settings: EvictionSettings, looks: readonly Look[]): readonly Told[] {
  const told: Told[] = [];
  let state: EvictionState = INITIAL_STATE;
  for (const look of looks) {
    const observations = lookOf(look);
    const now = at(look[0]);
    const { due } = assess(state, seen(...observations), now, settings);
    state = evolve(state, { kind: 'observed', at: now, sight: sightOf(...observations), layout: 'one-disk' }, settings);
    told.push({ due: due.map((each) => each.urgency.kind), conditions: state.conditions });
  }
  return told;
}

const due = test.macro(
  (
    t,
    thresholds: readonly Threshold[],
    looks: readonly (readonly [look: Look, due: string])[],
    profile: ProfileName,
  ) => {
    const told = play(
      settingsOf(thresholds, profile),
      looks.map(([look]) => look),
    );
    t.deepEqual(
      told.map((each) => each.due.join(' ')),
      looks.map(([, expected]) => expected),
    );
  },
);

for (const profile of ['kubelet', 'reclaimd'] as const) {
  test(
    `${profile}: a hard threshold is due at once and stays so inside its band, until its target is measured`,
    due,
    [HARD],
    [
      [[0, 150], ''],
      [[10, 99], 'hard'],
      [[20, 100], 'hard'],
      [[30, 149], 'hard'],
      [[40, 150], ''],
      [[50, 120], ''],
    ],
    profile,
  );
  test(
    `${profile}: a soft threshold is due when its grace is over, and a look above the line starts it anew`,
    due,
    [SOFT],
    [
      [[0, 199], ''],
      [[59, 199], ''],
      [[60, 199], 'soft'],
      [[70, 249], 'soft'],
      [[80, 250], ''],
      [[90, 100], ''],
      [[100, 220], ''],
      [[150, 100], ''],
      [[209, 100], ''],
      [[210, 100], 'soft'],
    ],
    profile,
  );
  test(`${profile}: nothing is due that cannot be seen`, due, [HARD, SOFT], [[[0, null], '']], profile);
}

test(
  'a look that sees nothing ends no pressure: what was due is due again inside its band',
  due,
  [HARD, SOFT],
  [
    [[0, 50], 'hard'],
    [[60, 50], 'hard soft'],
    [[70, null], ''],
    [[80, null], ''],
    [[90, 149], 'soft hard'],
    [[100, null], ''],
    [[110, 200], 'soft'],
    [[120, null], ''],
    [[130, 250], ''],
    [[140, 220], ''],
  ],
  'reclaimd',
);
test(
  'the kubelet forgets what was due when it sees nothing',
  due,
  [HARD],
  [
    [[0, 50], 'hard'],
    [[10, null], ''],
    [[20, 149], ''],
  ],
  'kubelet',
);
test(
  'a soft clock that runs starts anew after a look that sees nothing: nobody knows that the line was missed all the time',
  due,
  [SOFT],
  [
    [[0, 100], ''],
    [[30, null], ''],
    [[60, 100], ''],
    [[119, 100], ''],
    [[120, 100], 'soft'],
  ],
  'reclaimd',
);

const conditions = test.macro(
  (t, profile: ProfileName, looks: readonly (readonly [look: Look, isReported: boolean])[]) => {
    const told = play(
      settingsOf([HARD], profile),
      looks.map(([look]) => look),
    );
    t.deepEqual(
      told.map((each) => each.conditions.includes('DiskPressure')),
      looks.map(([, isReported]) => isReported),
    );
  },
);

test(
  'reclaimd: a condition ends the transition period after the last look short of the target',
  conditions,
  'reclaimd',
  [
    [[0, 500], false],
    [[10, 99], true],
    [[100, 149], true],
    [[200, 150], true],
    [[399, 500], true],
    [[400, 500], false],
  ],
);
test(
  'kubelet: a condition ends the transition period after the last look at which its threshold was met',
  conditions,
  'kubelet',
  [
    [[0, 500], false],
    [[10, 99], true],
    // Inside the band it is still met as it was due.
    [[100, 149], true],
    [[200, 150], true],
    [[399, 500], true],
    [[400, 500], false],
  ],
);
test('reclaimd: a condition stays while its signal cannot be seen', conditions, 'reclaimd', [
  [[0, 99], true],
  [[1_000, null], true],
  [[2_000, null], true],
  [[2_010, 500], true],
  [[2_310, 500], false],
]);
test('kubelet: a condition decays while its signal cannot be seen', conditions, 'kubelet', [
  [[0, 99], true],
  [[299, null], true],
  [[300, null], false],
]);

test('a soft threshold raises its condition before its grace is over', (t) => {
  const [told] = play(settingsOf([SOFT]), [[0, 100]]);
  t.deepEqual(told, { due: [], conditions: ['DiskPressure'] });
});

test('a period of zero: reclaimd reports what holds now, the kubelet nothing', (t) => {
  const looks: readonly Look[] = [
    [0, 99],
    [1, 500],
  ];
  t.deepEqual(
    play(settingsOf([HARD], 'reclaimd', 0), looks).map((each) => each.conditions.length),
    [1, 0],
  );
  t.deepEqual(
    play(settingsOf([HARD], 'kubelet', 0), looks).map((each) => each.conditions.length),
    [0, 0],
  );
});

function judge(
  profile: ProfileName,
  thresholds: readonly Threshold[],
  ...observations: readonly Observation[]
): Assessment {
  return assess(INITIAL_STATE, seen(...observations), at(0), settingsOf(thresholds, profile));
}

test('a line above the capacity is set aside and raises nothing; in the kubelet it is always met', (t) => {
  const tooHigh = threshold('nodefs.available', '2000');
  const full = observation('nodefs.available', 1_000);
  const here = judge('reclaimd', [tooHigh], full);
  t.deepEqual([here.setAside, here.met, here.conditions], [[tooHigh], [], []]);
  const there = judge('kubelet', [tooHigh], full);
  t.deepEqual([there.setAside, there.due, there.conditions], [[], [tooHigh], ['DiskPressure']]);
});

test('a line that was set aside stays so while its signal cannot be seen', (t) => {
  const settings = settingsOf([threshold('nodefs.available', '2000')]);
  const looks: readonly Look[] = [
    [0, 500],
    [10, null],
    [20, 500],
    [30, 500, 5_000],
  ];
  let state: EvictionState = INITIAL_STATE;
  const sizes: number[] = [];
  for (const look of looks) {
    const event = { kind: 'observed', at: at(look[0]), sight: sightOf(...lookOf(look)), layout: 'one-disk' } as const;
    state = evolve(state, event, settings);
    sizes.push(state.setAside.size);
  }
  t.deepEqual(sizes, [1, 1, 1, 0]);
});

test('numbers that are no newer than the last ones are due but not fresh', (t) => {
  const settings = settingsOf([HARD]);
  const look = observation('nodefs.available', 50, 1_000, 5);
  const state = evolve(
    INITIAL_STATE,
    { kind: 'observed', at: at(5), sight: sightOf(look), layout: 'one-disk' },
    settings,
  );
  const judged = assess(state, seen(look), at(6), settings);
  t.deepEqual([judged.due, judged.fresh], [[HARD], []]);
});

test('fresh thresholds come in the order in which they are served', (t) => {
  const { fresh } = judge(
    'reclaimd',
    [HARD, MEMORY],
    observation('nodefs.available', 50),
    observation('memory.available', 50),
  );
  t.deepEqual(fresh, [MEMORY, HARD]);
});

test('an entry that counted in the first pass alone is held while it was due in the kubelet, and unheard of here', (t) => {
  const own = threshold('containerfs.available', '100', { id: 'own' });
  const look = seen(observation('containerfs.available', 50));
  const ids = (profile: ProfileName, unresolved: readonly string[]) => {
    const settings = { ...settingsOf([HARD], profile), ofFirstPass: [HARD, own] };
    return assess({ ...INITIAL_STATE, unresolved }, look, at(0), settings).due.map(({ id }) => id);
  };
  t.deepEqual(ids('kubelet', [own.id]), [own.id]);
  t.deepEqual(ids('kubelet', []), []);
  t.deepEqual(ids('reclaimd', [own.id]), []);
});
