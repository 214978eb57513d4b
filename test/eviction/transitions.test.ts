import test from 'ava';
import type { EvictionSettings } from '../../src/eviction/assess.js';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { evolve } from '../../src/eviction/evolve.js';
import type { Observation, Sight, UnknownSignal } from '../../src/eviction/observe.js';
import { type EvictionState, INITIAL_STATE } from '../../src/eviction/state.js';
import { transitions } from '../../src/eviction/transitions.js';
import { at, observation, settingsOf, sightOf, threshold } from '../fakes/builders.js';

const HARD = threshold('nodefs.available', '100', { minReclaim: '50' });

/** Looks one after the other, as the cycle does: each is folded, then what changed is told and folded. */
function story(
  settings: EvictionSettings,
  looks: readonly (readonly [seconds: number, sight: Sight])[],
): readonly EvictionEvent[] {
  const told: EvictionEvent[] = [];
  let state: EvictionState = INITIAL_STATE;
  for (const [seconds, sight] of looks) {
    const before = state;
    state = evolve(state, { kind: 'observed', at: at(seconds), sight, layout: 'one-disk' }, settings);
    for (const event of transitions(before, state, sight, at(seconds), settings)) {
      told.push(event);
      state = evolve(state, event, settings);
    }
  }
  return told;
}

/** `seconds kind`, with the signal where it is about one. */
function lines(events: readonly EvictionEvent[]): readonly string[] {
  return events.map((event) => `${event.at / 1_000} ${event.kind}${'signal' in event ? ` ${event.signal}` : ''}`);
}

const disk = (available: number, capacity = 1_000) => sightOf(observation('nodefs.available', available, capacity));

function blind(
  signal: UnknownSignal['signal'],
  reason: UnknownSignal['reason'],
  ...others: readonly Observation[]
): Sight {
  return { ...sightOf(...others), unknown: [{ signal, reason, detail: `${reason} it is` }] };
}

test('pressure and relief are told when they change, with the numbers', (t) => {
  const events = story(settingsOf([HARD]), [
    [0, disk(500)],
    [1, disk(99)],
    [2, disk(98)],
    [3, disk(149)],
    [4, disk(150)],
    [303, disk(150)],
    [304, disk(150)],
  ]);
  t.deepEqual(lines(events), ['1 threshold-met', '1 condition-on', '4 threshold-cleared', '303 condition-off']);
  t.like(events[0], { threshold: HARD, line: 100, target: 150, observation: { available: 99 } });
  t.like(events[2], { threshold: HARD, line: 100, target: 150, observation: { available: 150 } });
});

test('a threshold derived for containerfs says nothing of its own', (t) => {
  const derived = { ...threshold('containerfs.available', '100'), isDerived: true as const };
  const settings = settingsOf([derived]);
  t.deepEqual(lines(story(settings, [[0, sightOf(observation('containerfs.available', 50))]])), ['0 condition-on']);
  t.deepEqual(lines(story(settings, [[0, sightOf(observation('containerfs.available', 50, 60))]])), []);
  t.deepEqual(lines(story(settings, [[0, blind('containerfs.available', 'hung')]])), []);
});

test('a signal that cannot be seen is told at once, warned about once after a minute, and told when it is back', (t) => {
  const looks = Array.from({ length: 130 }, (_, second) => [second, blind('nodefs.available', 'hung')] as const);
  const events = story(settingsOf([HARD]), [...looks, [130, disk(500)], [131, disk(500)]]);
  t.deepEqual(lines(events), [
    '0 signal-unknown nodefs.available',
    '60 signal-unknown-for-long nodefs.available',
    '130 signal-known nodefs.available',
  ]);
  t.like(events[1], { since: at(0), reason: 'hung', detail: 'hung it is' });
  t.like(events[2], { unknownFor: 130_000 });
});

test('another reason is told, but is no new minute and no second warning', (t) => {
  const events = story(settingsOf([HARD]), [
    [0, blind('nodefs.available', 'missing')],
    [30, blind('nodefs.available', 'hung')],
    [60, blind('nodefs.available', 'hung')],
    [150, blind('nodefs.available', 'missing')],
  ]);
  t.deepEqual(lines(events), [
    '0 signal-unknown nodefs.available',
    '30 signal-unknown nodefs.available',
    '60 signal-unknown-for-long nodefs.available',
    '150 signal-unknown nodefs.available',
  ]);
});

test('a signal that nobody watches may be unknown in silence', (t) => {
  t.deepEqual(
    lines(
      story(settingsOf([HARD]), [
        [0, blind('pid.available', 'no-reading')],
        [100, disk(500)],
      ]),
    ),
    [],
  );
});

test('what cannot be measured is told, and never warned about', (t) => {
  t.deepEqual(
    lines(
      story(settingsOf([threshold('nodefs.inodesFree', '5%')]), [
        [0, blind('nodefs.inodesFree', 'not-measurable')],
        [600, blind('nodefs.inodesFree', 'not-measurable')],
      ]),
    ),
    ['0 signal-unknown nodefs.inodesFree'],
  );
});

test('pressure that can no longer be seen is not told as relief', (t) => {
  const events = story(settingsOf([HARD]), [
    [0, disk(50)],
    [1, blind('nodefs.available', 'hung')],
    [2, disk(50)],
    [3, disk(150)],
  ]);
  t.deepEqual(lines(events), [
    '0 threshold-met',
    '0 condition-on',
    '1 signal-unknown nodefs.available',
    '2 signal-known nodefs.available',
    '3 threshold-cleared',
  ]);
});

test('more available than the capacity is told once, and again after it was right', (t) => {
  const wrong = {
    ...disk(1_000),
    clamped: [{ signal: 'nodefs.available', available: 2_000, capacity: 1_000 } as const],
  };
  t.deepEqual(
    lines(
      story(settingsOf([HARD]), [
        [0, wrong],
        [1, wrong],
        [2, disk(500)],
        [3, wrong],
      ]),
    ),
    ['0 available-above-capacity', '3 available-above-capacity'],
  );
});

test('a line above the capacity is told once, blind looks between or not', (t) => {
  const events = story(settingsOf([HARD]), [
    [0, disk(50, 60)],
    [1, disk(50, 60)],
    [2, blind('pid.available', 'no-reading')],
    [3, disk(50, 60)],
  ]);
  t.deepEqual(lines(events), ['0 line-above-capacity']);
  t.like(events[0], { line: 100, capacity: 60, threshold: HARD });
});

test('a threshold that is set aside was not relieved', (t) => {
  const events = story(settingsOf([HARD]), [
    [0, disk(50)],
    [1, disk(50, 60)],
    [2, disk(50)],
  ]);
  t.deepEqual(lines(events), ['0 threshold-met', '0 condition-on', '1 line-above-capacity', '2 threshold-met']);
});

test('the kubelet sets nothing aside: a line above the capacity is met', (t) => {
  t.deepEqual(lines(story(settingsOf([HARD], 'kubelet'), [[0, disk(50, 60)]])), ['0 threshold-met', '0 condition-on']);
});
