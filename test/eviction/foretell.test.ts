import test from 'ava';
import type { EvictionSettings } from '../../src/eviction/assess.js';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { evolve } from '../../src/eviction/evolve.js';
import { collectionsAhead } from '../../src/eviction/foretell.js';
import type { FsLayout } from '../../src/eviction/layout.js';
import type { Observation } from '../../src/eviction/observe.js';
import { type EvictionState, INITIAL_STATE } from '../../src/eviction/state.js';
import { transitions } from '../../src/eviction/transitions.js';
import { milliseconds } from '../../src/units/units.js';
import { at, observation, settingsOf, sightOf, threshold } from '../fakes/builders.js';

const HARD = threshold('nodefs.available', '100');
const SETTINGS: EvictionSettings = { ...settingsOf([HARD]), fullWithin: milliseconds(60_000) };
const CAPACITY = 100_000;

interface Story {
  readonly state: EvictionState;
  readonly told: readonly EvictionEvent[];
}

/** Looks every ten seconds and tells what changed, as a pass does. */
function look(story: Story, second: number, available: number, more: Partial<Record<'layout', FsLayout>> = {}): Story {
  const layout = more.layout ?? 'one-disk';
  const seen: readonly Observation[] = (['nodefs.available', 'imagefs.available'] as const).map((signal) =>
    observation(signal, available, CAPACITY, second),
  );
  const sight = sightOf(...seen);
  let state = evolve(story.state, { kind: 'observed', at: at(second), sight, layout }, SETTINGS);
  const changes = transitions(story.state, state, sight, at(second), SETTINGS);
  for (const each of changes) state = evolve(state, each, SETTINGS);
  return { state, told: [...story.told, ...changes.filter(({ kind }) => /full|fills/.test(kind))] };
}

function watch(
  from: number,
  to: number,
  available: (second: number) => number,
  story: Story,
  layout?: FsLayout,
): Story {
  let now = story;
  for (let second = from; second <= to; second += 10) {
    now = look(now, second, available(second), layout === undefined ? {} : { layout });
  }
  return now;
}

const NOTHING: Story = { state: INITIAL_STATE, told: [] };
const FILLING = (second: number) => 20_000 - 100 * second;

test('a filling disk is told once, and again each time its time has halved', (t) => {
  const { told } = watch(0, 190, FILLING, NOTHING);
  const times = told.map((each) =>
    each.kind === 'will-be-full' ? Math.round(each.forecast.timeToFull / 1_000) : each.kind,
  );
  // From 30 s of watching on it is known; 170 s are left then.
  t.deepEqual(times, [170, 80, 40, 20, 10]);
});

test('one device is told of once, by the name of its first filesystem', (t) => {
  const signals = (layout: FsLayout) =>
    new Set(
      watch(0, 60, FILLING, NOTHING, layout).told.map((each) => (each.kind === 'will-be-full' ? each.signal : '')),
    );
  t.deepEqual(signals('one-disk'), new Set(['nodefs.available']));
  t.deepEqual(signals('image-disk'), new Set(['nodefs.available', 'imagefs.available']));
});

test('two minutes without a forecast end it', (t) => {
  const filled = watch(0, 60, FILLING, NOTHING);
  const kinds = (story: Story) => new Set(story.told.map(({ kind }) => kind));
  t.false(kinds(watch(70, 150, () => 14_000, filled)).has('fills-no-more'));
  t.true(kinds(watch(70, 240, () => 14_000, filled)).has('fills-no-more'));
});

test('the kubelet foretells nothing', (t) => {
  const settings = settingsOf([HARD], 'kubelet');
  let state = INITIAL_STATE;
  for (let second = 0; second <= 100; second += 10) {
    const sight = sightOf(observation('nodefs.available', FILLING(second), CAPACITY, second));
    state = evolve(state, { kind: 'observed', at: at(second), sight, layout: 'one-disk' }, settings);
  }
  t.is(state.forecasts.size, 0);
});

const ahead = (
  { state }: Story,
  second: number,
  settings: EvictionSettings = SETTINGS,
  pressed: readonly never[] = [],
) => collectionsAhead(state, pressed, 'one-disk', at(second), settings);

test('within the time asked for garbage is collected, as much as lasts a quarter longer', (t) => {
  t.deepEqual(ahead(watch(0, 130, FILLING, NOTHING), 130), []);
  const [found] = ahead(watch(0, 150, FILLING, NOTHING), 150);
  t.is(found?.told.signal, 'nodefs.available');
  t.deepEqual(found?.pressed.goals, [{ signal: 'nodefs.available', line: 7_500, target: 7_500 }]);
  t.deepEqual(found?.pressed.steps, ['containers', 'images']);
  t.is(found?.pressed.threshold.urgency.kind, 'soft');
});

test('no more than a quarter of the disk is freed ahead', (t) => {
  const fast = watch(0, 40, (second) => 21_000 - 500 * second, NOTHING);
  const [found] = ahead(fast, 40, { ...SETTINGS, fullWithin: milliseconds(600_000) });
  t.is(found?.pressed.goals[0]?.target, 25_000);
});

test('at most once a minute, and never without being asked for', (t) => {
  const filled = watch(0, 150, FILLING, NOTHING);
  const [found] = ahead(filled, 150);
  if (found === undefined) return t.fail('nothing is collected ahead');
  const served = { ...filled, state: evolve(filled.state, { ...found.told, at: at(150) }, SETTINGS) };
  t.deepEqual(ahead(served, 209), []);
  t.is(ahead(served, 210).length, 1);
  t.deepEqual(ahead(filled, 150, settingsOf([HARD])), []);
});

test('a device that a line presses is served for that line alone', (t) => {
  const { state } = watch(0, 150, FILLING, NOTHING);
  const pressed = { threshold: HARD, thresholds: [HARD], goals: [], steps: [] };
  t.deepEqual(collectionsAhead(state, [pressed], 'one-disk', at(150), SETTINGS), []);
});
