import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { assess, type EvictionSettings } from '../../src/eviction/assess.js';
import type { EvictionEvent } from '../../src/eviction/event.js';
import { evolve } from '../../src/eviction/evolve.js';
import { observe, type Sight } from '../../src/eviction/observe.js';
import type { PathLook } from '../../src/eviction/path-look.js';
import { type EvictionState, INITIAL_STATE } from '../../src/eviction/state.js';
import { transitions } from '../../src/eviction/transitions.js';
import { bytes, count } from '../../src/units/units.js';
import { at, observation, reading, readings, settingsOf, sightOf, threshold } from '../fakes/builders.js';
import { eventOf } from '../fakes/events.js';
import { codes, digits, holds, law, pick } from './law.js';

const HARD_LINE = 3;
const SOFT_LINE = 4;
const BAND = 2;
const GRACE_SECONDS = 5;
const TRANSITION_SECONDS = 6;
const HARD = threshold('nodefs.available', `${HARD_LINE}`, { minReclaim: `${BAND}` });
const SOFT = threshold('nodefs.available', `${SOFT_LINE}`, { minReclaim: `${BAND}`, graceSeconds: GRACE_SECONDS });
const CAPACITY = 10;

/** What is available (the last: it cannot be seen), and how many seconds after the look before. */
const LOOK = [9, 4] as const;
const UNSEEN = 8;

interface Look {
  readonly seconds: number;
  readonly available: number | null;
}

function looksOf(coded: readonly number[]): readonly Look[] {
  let seconds = 0;
  return coded.map((code) => {
    const [available, pause] = digits(code, LOOK);
    seconds += pause;
    return { seconds, available: available === UNSEEN ? null : available };
  });
}

function sightOfLook({ seconds, available }: Look): Sight {
  return available === null
    ? { ...sightOf(), unknown: [{ signal: 'nodefs.available', reason: 'hung', detail: 'it hangs' }] }
    : sightOf(observation('nodefs.available', available, CAPACITY, seconds));
}

function observed(look: Look): EvictionEvent {
  return { kind: 'observed', at: at(look.seconds), sight: sightOfLook(look), layout: 'one-disk' };
}

/** What one threshold's life should be, told by a scalar: written down from the rules, not from the code. */
class Expected {
  isDue = false;
  isMet = false;
  isPressing = false;
  #since: number | null = null;
  #wasDue = false;

  constructor(
    readonly line: number,
    readonly graceSeconds: number,
    readonly isKubelet: boolean,
  ) {}

  look({ seconds, available }: Look): void {
    const isUnseen = available === null;
    this.isMet = !isUnseen && (available < this.line || (this.#wasDue && available < this.line + BAND));
    if (!isUnseen) this.isPressing = available < this.line || (this.isPressing && available < this.line + BAND);
    const isHeld = isUnseen && this.#wasDue && !this.isKubelet;
    if (this.isMet || isHeld) this.#since ??= seconds;
    else this.#since = null;
    this.isDue = this.isMet && this.#since !== null && seconds - this.#since >= this.graceSeconds;
    this.#wasDue = this.isDue || isHeld;
  }
}

law(
  'a threshold is due below its line when its grace is over, and until its target is measured; a look above the line starts the grace anew; a condition ends the transition period after the last pressure',
  fc.property(fc.array(codes(LOOK), { maxLength: 9 }), fc.boolean(), (coded, isKubelet) => {
    const settings = settingsOf([HARD, SOFT], isKubelet ? 'kubelet' : 'reclaimd', TRANSITION_SECONDS);
    const hard = new Expected(HARD_LINE, 0, isKubelet);
    const soft = new Expected(SOFT_LINE, GRACE_SECONDS, isKubelet);
    let state: EvictionState = INITIAL_STATE;
    let lastPressure: number | null = null;
    for (const look of looksOf(coded)) {
      hard.look(look);
      soft.look(look);
      const sight = sightOfLook(look);
      const { due } = assess(state, sight.observations, at(look.seconds), settings);
      holds(due.includes(HARD) === hard.isDue, `at ${look.seconds} s the hard one is judged wrongly`);
      holds(due.includes(SOFT) === soft.isDue, `at ${look.seconds} s the soft one is judged wrongly`);
      state = evolve(state, observed(look), settings);
      holds(state.pressing.has(HARD.id) === hard.isPressing, `at ${look.seconds} s the hard one presses wrongly`);
      const isHolding = isKubelet ? hard.isMet || soft.isMet : hard.isPressing || soft.isPressing;
      if (isHolding) lastPressure = look.seconds;
      const isReported = lastPressure !== null && look.seconds - lastPressure < TRANSITION_SECONDS;
      holds(state.conditions.includes('DiskPressure') === isReported, `at ${look.seconds} s the condition is wrong`);
    }
  }),
);

/** One thing that may happen: a look, or an event that changes the state or leaves it. */
const HAPPENING = [7, ...LOOK] as const;

function happening(code: number, seconds: number): EvictionEvent {
  const [what, available] = digits(code, HAPPENING);
  const look = { seconds, available: available === UNSEEN ? null : available };
  const pod = { uid: `pod-${available}`, label: '' };
  switch (what) {
    case 0:
      return { ...eventOf('pod-killed', { pod }), at: at(seconds) };
    case 1:
      return eventOf('pod-killed', { pod, outcome: { kind: 'failed', message: '' } });
    case 2:
      return eventOf('eviction-measured', { endsSeries: available % 2 === 0, availableAfter: available, missing: 3 });
    case 3:
      return eventOf('helpless');
    default:
      return observed(look);
  }
}

law(
  'the state is a pure fold: the same events make the same states, and no event changes a state that was',
  fc.property(fc.array(codes(HAPPENING), { maxLength: 6 }), (coded) => {
    const events = coded.map((code, second) => happening(code, second));
    const states = (settings: EvictionSettings) => {
      let state: EvictionState = INITIAL_STATE;
      return events.map((event) => {
        state = evolve(state, event, settings);
        return state;
      });
    };
    const first = states(settingsOf([HARD, SOFT]));
    return isDeepStrictEqual(first, states(settingsOf([HARD, SOFT]))) && INITIAL_STATE.firstMet.size === 0;
  }),
);

const FAR_BELOW = { available: bytes(0), inodes: { free: count(0), total: count(100) } };

/** Looks that say nothing, each as close to "all is gone" as it can be. */
const NOTHING_SEEN: readonly ((seconds: number) => PathLook)[] = [
  (seconds) => ({ kind: 'missing', path: '/data', at: at(seconds) }),
  (seconds) => ({ kind: 'error', path: '/data', message: 'EIO', at: at(seconds) }),
  (seconds) => ({ kind: 'hung', path: '/data', since: at(0), at: at(seconds) }),
  (seconds) => reading({ ...FAR_BELOW, capacity: bytes(0), at: at(seconds) }),
  (seconds) => reading({ ...FAR_BELOW, readOnly: true, at: at(seconds) }),
];
/** Which look (the last two see: all is well, all is gone), and how many steps of 7 s after the look before. */
const GLANCE = [NOTHING_SEEN.length + 2, 5] as const;
const WATCHED = [threshold('nodefs.available', '10%', { minReclaim: '5%' }), threshold('nodefs.inodesFree', '5%')];
const WARNED_AFTER_SECONDS = 60;

law(
  'a look that sees nothing puts nothing under pressure and ends no condition that was not relieved before; it is warned about once, when it has lasted a minute',
  fc.property(fc.array(codes(GLANCE), { maxLength: 8 }), (coded) => {
    const settings = settingsOf(WATCHED, 'reclaimd', 10);
    let state: EvictionState = INITIAL_STATE;
    let seconds = 0;
    let blindSince: number | null = null;
    let isWarned = false;
    for (const code of coded) {
      const [which, pause] = digits(code, GLANCE);
      seconds += pause * 7;
      const isBlind = which < NOTHING_SEEN.length;
      const look = isBlind
        ? pick(NOTHING_SEEN, which)(seconds)
        : reading({ ...(which === NOTHING_SEEN.length ? {} : FAR_BELOW), at: at(seconds) });
      const sight = observe(readings({ filesystems: { nodefs: look, imagefs: reading(), containerfs: reading() } }));
      const before = state;
      const { due } = assess(before, sight.observations, at(seconds), settings);
      state = evolve(state, { kind: 'observed', at: at(seconds), sight, layout: 'one-disk' }, settings);
      const told = transitions(before, state, sight, at(seconds), settings);
      const warnings = told.filter((event) => event.kind === 'signal-unknown-for-long');
      for (const event of told) state = evolve(state, event, settings);
      if (!isBlind) {
        holds(warnings.length === 0, 'a signal that is seen is warned about');
        [blindSince, isWarned] = [null, false];
        continue;
      }
      holds(due.length === 0, 'something is due that cannot be seen');
      holds(isDeepStrictEqual(state.pressing, before.pressing), 'what presses has changed unseen');
      const lost = before.conditions.filter((each) => !state.conditions.includes(each));
      holds(state.conditions.length + lost.length === before.conditions.length, 'a condition has come unseen');
      // One whose target was measured before may end its transition period meanwhile.
      holds(lost.length === 0 || before.pressing.size === 0, 'a condition has ended unseen');
      blindSince ??= seconds;
      const isDue: boolean = !isWarned && seconds - blindSince >= WARNED_AFTER_SECONDS;
      holds(warnings.length === (isDue ? WATCHED.length : 0), `${warnings.length} warnings at ${seconds} s`);
      isWarned ||= isDue;
    }
  }),
);
