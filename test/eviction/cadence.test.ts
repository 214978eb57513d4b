import test from 'ava';
import { type CadenceSettings, fillRate, pauseBeforeNextLook } from '../../src/eviction/cadence.js';
import type { Observation } from '../../src/eviction/observe.js';
import type { ProfileName } from '../../src/eviction/policy.js';
import type { EvictionState } from '../../src/eviction/state.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import { milliseconds } from '../../src/units/units.js';
import { at, observation, seen, settingsOf, stateWith, threshold } from '../fakes/builders.js';

const CADENCE: CadenceSettings = {
  slowest: milliseconds(10_000),
  fastest: milliseconds(100),
  assumedFillRate: 100,
};
const HARD = threshold('nodefs.available', '1000');
const SOFT = threshold('nodefs.available', '1000', { graceSeconds: 60 });
const UNDER_WAY = {
  podUid: 'a',
  podLabel: 'default/a',
  signal: 'nodefs.available',
  availableBefore: 0,
  expected: 10,
  killedAt: at(0),
  waitUntil: at(30),
  isGone: false,
} as const;

interface Scene {
  readonly thresholds?: readonly Threshold[];
  readonly observations?: readonly Observation[];
  readonly state?: Partial<EvictionState>;
  readonly profile?: ProfileName;
}

const pauses = test.macro((t, scene: Scene, expectedMs: number) => {
  const state = stateWith({ observations: seen(...(scene.observations ?? [])), ...scene.state });
  const settings = settingsOf(scene.thresholds ?? [HARD], scene.profile);
  t.is(pauseBeforeNextLook(state, settings, CADENCE) / 1, expectedMs);
});

const disk = (available: number) => observation('nodefs.available', available, 1_000_000);

test('the kubelet always waits ten seconds', pauses, { profile: 'kubelet', observations: [disk(0)] }, 10_000);
test('far from every line the pause is the slowest', pauses, { observations: [disk(1_000_000)] }, 10_000);
test('half of the time to the line at the assumed rate', pauses, { observations: [disk(1_400)] }, 2_000);
test('just above the line the pause is the fastest', pauses, { observations: [disk(1_001)] }, 100);
test('below a hard line the pause is the fastest', pauses, { observations: [disk(10)] }, 100);
test('exactly on the line the pause is the fastest', pauses, { observations: [disk(1_000)] }, 100);
test('nothing to watch, nothing to hurry for', pauses, { thresholds: [] }, 10_000);
test('a signal that cannot be seen does not hurry', pauses, {}, 10_000);
test(
  'memory is looked at in the slowest pause: disks are what is reclaimed',
  pauses,
  { thresholds: [threshold('memory.available', '1000')], observations: [observation('memory.available', 1_001)] },
  10_000,
);
test(
  'a line that is set aside does not hurry',
  pauses,
  { observations: [disk(10)], state: { setAside: new Set([HARD.id]) } },
  10_000,
);
test(
  'a filesystem that was seen filling faster than assumed is looked at sooner',
  pauses,
  {
    observations: [disk(1_400)],
    state: {
      samples: new Map([
        [
          'nodefs' as const,
          [
            { at: at(0), available: 2_200 },
            { at: at(1), available: 1_400 },
          ],
        ],
      ]),
    },
  },
  250,
);
test(
  'the nearest of several lines decides',
  pauses,
  {
    thresholds: [threshold('imagefs.available', '1000'), HARD],
    observations: [observation('imagefs.available', 1_800, 1_000_000), disk(1_400)],
  },
  2_000,
);
test(
  'inodes are taken to go at fifty thousand a second',
  pauses,
  {
    thresholds: [threshold('nodefs.inodesFree', '1000')],
    observations: [observation('nodefs.inodesFree', 101_000, 1_000_000)],
  },
  1_000,
);
test(
  'while the effect of an eviction is awaited the pause is the fastest',
  pauses,
  { observations: [disk(1_000_000)], state: { evictionUnderWay: UNDER_WAY } },
  100,
);
test(
  'while nothing helps, a second: looking faster brings nothing',
  pauses,
  { observations: [disk(0)], state: { helpless: 'all pods are protected' } },
  1_000,
);
test(
  'below a soft line the next look is due when its grace ends',
  pauses,
  { thresholds: [SOFT], observations: [disk(10)], state: { firstMet: new Map([[SOFT.id, at(0)]]), lookedAt: at(57) } },
  3_000,
);
test(
  'with a long grace left the pause is the slowest',
  pauses,
  { thresholds: [SOFT], observations: [disk(10)], state: { firstMet: new Map([[SOFT.id, at(0)]]), lookedAt: at(5) } },
  10_000,
);
test(
  'after a soft grace the pause is the fastest',
  pauses,
  { thresholds: [SOFT], observations: [disk(10)], state: { firstMet: new Map([[SOFT.id, at(0)]]), lookedAt: at(60) } },
  100,
);
test(
  'a soft line whose clock has not started is looked at at once',
  pauses,
  { thresholds: [SOFT], observations: [disk(10)], state: { lookedAt: at(60) } },
  100,
);
test(
  'a soft line before the first look is looked at at once',
  pauses,
  { thresholds: [SOFT], observations: [disk(10)], state: { firstMet: new Map([[SOFT.id, at(0)]]) } },
  100,
);

for (const [title, samples, expected] of [
  ['without samples it is 0', [], 0],
  ['one sample tells no rate', [[0, 100]], 0],
  [
    'a filesystem that empties does not fill',
    [
      [0, 100],
      [1, 200],
    ],
    0,
  ],
  [
    'bytes per second between two samples',
    [
      [0, 100],
      [2, 60],
    ],
    20,
  ],
  [
    'the fastest of several',
    [
      [0, 100],
      [1, 90],
      [2, 50],
      [3, 45],
    ],
    40,
  ],
  [
    'samples of one time tell nothing',
    [
      [1, 100],
      [1, 0],
    ],
    0,
  ],
  [
    'samples of a clock that went backwards tell nothing',
    [
      [5, 100],
      [1, 0],
    ],
    0,
  ],
] as const satisfies readonly (readonly [string, readonly (readonly [number, number])[], number])[]) {
  test(`fill rate: ${title}`, (t) => {
    t.is(fillRate(samples.map(([seconds, available]) => ({ at: at(seconds), available }))), expected);
  });
}

const IN_GRACE = { firstMet: new Map([[SOFT.id, at(0)]]), lookedAt: at(55) };
test(
  'on a soft line whose grace runs the next look is due when that ends',
  pauses,
  { thresholds: [SOFT], observations: [disk(1_000)], state: IN_GRACE },
  5_000,
);
test(
  'just above a soft line whose grace runs the pause is the fastest',
  pauses,
  { thresholds: [SOFT], observations: [disk(1_001)], state: IN_GRACE },
  100,
);
