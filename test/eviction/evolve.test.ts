import test from 'ava';
import type { EventOf, EvictionEvent, KillOutcome } from '../../src/eviction/event.js';
import { evolve, isWarningDue } from '../../src/eviction/evolve.js';
import type { Sight, UnknownReason } from '../../src/eviction/observe.js';
import { type EvictionState, INITIAL_STATE } from '../../src/eviction/state.js';
import { milliseconds } from '../../src/units/units.js';
import { at, observation, settingsOf, sightOf, stateWith, threshold } from '../fakes/builders.js';
import { eventOf, eventOfEveryKind } from '../fakes/events.js';

const HARD = threshold('nodefs.available', '100');
const SETTINGS = settingsOf([HARD]);

function fold(events: readonly EvictionEvent[], from: EvictionState = INITIAL_STATE): EvictionState {
  return events.reduce((state, event) => evolve(state, event, SETTINGS), from);
}

function observed(seconds: number, sight: Sight): EvictionEvent {
  return { kind: 'observed', at: at(seconds), sight, layout: 'one-disk' };
}

function disk(seconds: number, available: number, atSeconds: number | null = seconds): EvictionEvent {
  return observed(seconds, sightOf(observation('nodefs.available', available, 1_000, atSeconds)));
}

function blind(seconds: number, reason: UnknownReason = 'hung'): EvictionEvent {
  return observed(seconds, {
    observations: new Map(),
    unknown: [{ signal: 'nodefs.available', reason, detail: 'it hangs' }],
    clamped: [],
  });
}

const KILLED: EventOf<'pod-killed'> = {
  kind: 'pod-killed',
  at: at(5),
  pod: { uid: 'a', label: 'default/a' },
  signal: 'nodefs.available',
  expected: 30,
  availableBefore: 50,
  availableAfter: 80,
  waitUntil: at(36),
  outcome: { kind: 'gone' },
  took: milliseconds(1_000),
};

const MEASURED: EventOf<'eviction-measured'> = {
  kind: 'eviction-measured',
  at: at(9),
  pod: KILLED.pod,
  signal: 'nodefs.available',
  expected: 30,
  availableBefore: 50,
  availableAfter: 51,
  missing: 100,
  endsSeries: true,
  took: milliseconds(4_000),
};

test('a look is remembered: when, the layout, the numbers', (t) => {
  const state = fold([disk(7, 50)]);
  t.is(state.lookedAt, at(7));
  t.is(state.layout, 'one-disk');
  t.is(state.observations.get('nodefs.available')?.available, 50);
  t.deepEqual([...state.pressing], [HARD.id]);
  t.deepEqual(state.unresolved, [HARD.id]);
  t.deepEqual(state.conditions, ['DiskPressure']);
});

test('a layout that changed is remembered', (t) => {
  t.is(fold([{ kind: 'layout-changed', at: at(0), from: null, to: 'split-disks' }]).layout, 'split-disks');
});

test('a layout is new from the moment it is told until the next pass is over, be it a failed one', (t) => {
  const told = fold([{ kind: 'layout-changed', at: at(0), from: null, to: 'one-disk' }]);
  t.true(told.isLayoutNew);
  t.false(fold([{ kind: 'layout-changed', at: at(0), from: 'one-disk', to: 'image-disk' }]).isLayoutNew);
  const ends = eventOfEveryKind().filter(({ kind }) => kind === 'look-failed' || kind === 'layout-refused');
  for (const end of ends) t.false(evolve(told, end, SETTINGS).isLayoutNew, end.kind);
  t.is(ends.length, 2);
  t.false(evolve(told, disk(1, 500), SETTINGS).isLayoutNew);
});

test('a signal is unknown since the first look that did not see it, until it is seen', (t) => {
  const unknown = fold([blind(1, 'missing'), blind(2)]).unknown;
  t.deepEqual(
    [...unknown],
    [['nodefs.available', { reason: 'hung', detail: 'it hangs', since: at(1), warned: false }]],
  );
  t.is(fold([blind(1), disk(2, 500)]).unknown.size, 0);
});

test('what cannot be measured is no fault: a fault that follows it begins with itself', (t) => {
  const row = fold([blind(0, 'not-measurable'), blind(3_600, 'hung'), blind(3_601, 'error')]).unknown.get(
    'nodefs.available',
  );
  t.is(row?.since, at(3_600));
  t.is(fold([blind(0, 'not-measurable'), blind(9, 'not-measurable')]).unknown.get('nodefs.available')?.since, at(0));
});

test('a warning that was given is remembered as long as the signal is unknown', (t) => {
  const warning: EvictionEvent = {
    kind: 'signal-unknown-for-long',
    at: at(61),
    signal: 'nodefs.available',
    reason: 'hung',
    detail: 'it hangs',
    since: at(1),
  };
  const warned = fold([blind(1), blind(61), warning, blind(62)]);
  t.true(warned.unknown.get('nodefs.available')?.warned);
  t.false(fold([disk(63, 500), blind(64)], warned).unknown.get('nodefs.available')?.warned);
});

test('a warning about a signal that can be seen changes nothing', (t) => {
  const before = fold([disk(0, 500)]);
  const after = fold(
    [
      {
        kind: 'signal-unknown-for-long',
        at: at(1),
        signal: 'nodefs.available',
        reason: 'hung',
        detail: '',
        since: at(0),
      },
    ],
    before,
  );
  t.is(after.unknown.size, 0);
});

for (const [title, reason, warned, now, expected] of [
  ['due after a minute', 'hung', false, 60, true],
  ['not due a moment before', 'hung', false, 59, false],
  ['not given twice', 'hung', true, 600, false],
  ['never due for what cannot be measured', 'not-measurable', false, 600, false],
] as const) {
  test(`the warning about an unknown signal is ${title}`, (t) => {
    t.is(isWarningDue({ reason, detail: '', since: at(0), warned }, { at: at(now) }), expected);
  });
}

test('a look that is put right is remembered, so that it is said once', (t) => {
  const sight = { ...sightOf(), clamped: [{ signal: 'nodefs.available', available: 2, capacity: 1 } as const] };
  t.deepEqual([...fold([observed(0, sight)]).clamped], ['nodefs.available']);
  t.is(fold([observed(0, sight), disk(1, 500)]).clamped.size, 0);
});

for (const [title, outcome] of [
  ['gone', { kind: 'gone' }],
  ['ended, but remains', { kind: 'remains', message: 'EBUSY' }],
  ['still running', { kind: 'still-running', message: 'deadline' }],
] as const satisfies readonly (readonly [string, KillOutcome])[]) {
  test(`a pod that was told to end is never told again, and its space is awaited: ${title}`, (t) => {
    const state = fold([{ ...KILLED, outcome }], stateWith({ helpless: 'nothing helps' }));
    t.deepEqual(state.evictionUnderWay, {
      podUid: 'a',
      podLabel: 'default/a',
      signal: 'nodefs.available',
      availableBefore: 50,
      expected: 30,
      killedAt: at(5),
      waitUntil: at(36),
      isGone: outcome.kind === 'gone',
    });
    t.deepEqual([...state.toldToEnd], ['a']);
    t.is(state.helpless, null);
  });
}

test('a kill that failed is no eviction, and its time is remembered', (t) => {
  const failed = { ...KILLED, outcome: { kind: 'failed', message: 'refused' } } as const;
  t.deepEqual(fold([failed]), stateWith({ killFailed: new Map([['a', at(5)]]) }));
  t.deepEqual([...fold([failed, { ...failed, at: at(9) }]).killFailed], [['a', at(9)]]);
});

test('a kill of which nobody knows how it went leaves the pod the one to go', (t) => {
  t.deepEqual(fold([{ ...KILLED, outcome: { kind: 'unverified', message: 'no runtime' } }]), stateWith({}));
});

test('of the kills that failed the newest thousand are remembered', (t) => {
  const events = Array.from({ length: 1_002 }, (_, index) => ({
    ...KILLED,
    pod: { uid: `pod-${index}`, label: '' },
    outcome: { kind: 'failed', message: 'refused' } as const,
  }));
  const { killFailed } = fold(events);
  t.is(killFailed.size, 1_000);
  t.deepEqual([killFailed.has('pod-1'), killFailed.has('pod-2'), killFailed.has('pod-1001')], [false, true, true]);
});

test('of the pods that were told to end the newest thousand are remembered', (t) => {
  const events = Array.from({ length: 1_002 }, (_, index) => ({ ...KILLED, pod: { uid: `pod-${index}`, label: '' } }));
  const { toldToEnd } = fold(events);
  t.is(toldToEnd.size, 1_000);
  t.deepEqual([toldToEnd.has('pod-1'), toldToEnd.has('pod-2'), toldToEnd.has('pod-1001')], [false, true, true]);
});

test('an eviction that was measured is over; one that brought next to nothing ends the series', (t) => {
  const ended = fold([KILLED, MEASURED]);
  t.is(ended.evictionUnderWay, null);
  t.deepEqual(ended.seriesEnded, { signal: 'nodefs.available', available: 51, missing: 100 });
  t.is(fold([KILLED, { ...MEASURED, endsSeries: false }]).seriesEnded, null);
});

for (const [title, available, isForgotten] of [
  ['moved up by a tenth of what was missing', 61, true],
  ['moved down by a tenth of what was missing', 41, true],
  ['moved by less', 60, false],
] as const) {
  test(`an ended series is ${isForgotten ? 'forgotten' : 'remembered'} when the free space has ${title}`, (t) => {
    t.is(fold([KILLED, MEASURED, disk(20, available)]).seriesEnded === null, isForgotten);
  });
}

test('an ended series is remembered while its signal cannot be seen', (t) => {
  t.not(fold([KILLED, MEASURED, blind(20)]).seriesEnded, null);
});

test('the reason why nothing helps is remembered until something is relieved or set aside', (t) => {
  const look = observation('nodefs.available', 50);
  const helpless: EvictionEvent = {
    kind: 'helpless',
    at: at(1),
    reason: 'all pods are protected',
    threshold: HARD,
    observation: look,
  };
  const state = fold([helpless]);
  t.is(state.helpless, 'all pods are protected');
  t.is(fold([disk(2, 50)], state).helpless, 'all pods are protected');
  const facts = { at: at(3), threshold: HARD, observation: look, line: 100, target: 100 };
  t.is(fold([{ kind: 'threshold-met', ...facts }], state).helpless, 'all pods are protected');
  t.is(fold([{ kind: 'threshold-cleared', ...facts }], state).helpless, null);
  t.is(
    fold([{ kind: 'line-above-capacity', at: at(3), threshold: HARD, line: 100, capacity: 50 }], state).helpless,
    null,
  );
});

test('samples are kept per filesystem, the newest sixteen, each time once', (t) => {
  const looks = Array.from({ length: 20 }, (_, second) => disk(second, 1_000 - second));
  const state = fold([...looks, disk(20, 0, 19), disk(21, 0, null), blind(22)]);
  const samples = state.samples.get('nodefs') ?? [];
  t.is(samples.length, 16);
  t.deepEqual(samples[0], { at: at(4), available: 996 });
  t.deepEqual(samples.at(-1), { at: at(19), available: 981 });
  t.is(state.samples.get('imagefs'), undefined);
});

for (const kind of ['failed', 'unverified'] as const) {
  test(`a pod over its own limit whose end is ${kind} may be chosen again`, (t) => {
    const served = eventOf('storage-limit-served', { outcome: { kind, message: 'no' } });
    t.is(fold([served]).toldToEnd.size, 0);
    t.is(fold([eventOf('storage-limit-served', { outcome: { kind: 'gone' } })]).toldToEnd.size, 1);
  });
}

test('all other events tell a story and change nothing', (t) => {
  const changing = new Set([
    'observed',
    'layout-changed',
    'signal-unknown-for-long',
    'restored',
    'eviction-decided',
    'kill-outstanding',
    'pod-killed',
    'eviction-measured',
    'helpless',
    'notifiers-updated',
    'storage-limits-checked',
    'usage-checked',
    'storage-limit-served',
    'will-be-full',
    'fills-no-more',
    'collecting-ahead',
    'threshold-cleared',
    'line-above-capacity',
  ]);
  const state = fold([disk(0, 50), blind(1)]);
  for (const event of eventOfEveryKind()) {
    if (!changing.has(event.kind)) t.is(evolve(state, event, SETTINGS), state, event.kind);
  }
});
