import { groupBy } from '../units/group-by.js';
import type { Instant } from '../units/units.js';
import type { Assessment, EvictionSettings } from './assess.js';
import { thresholdsBelow } from './evaluate.js';
import type { Goal } from './event.js';
import { deviceUnder, type FsLayout } from './layout.js';
import type { Observations } from './observe.js';
import { isFutile, stillToCome } from './outstanding.js';
import { SIGNALS, type Signal } from './signal.js';
import type { EvictionState, EvictionUnderWay } from './state.js';
import { type ReclaimStep, reclaimSteps } from './steps.js';
import type { Threshold } from './threshold.js';

/** Thresholds that are due on one device, or on memory, or on processes: served together. */
export interface Pressed {
  /** The most urgent of them; it names the pressure. */
  readonly threshold: Threshold;
  readonly thresholds: readonly Threshold[];
  /** What must be measured before pods are safe, one per signal: the stricter line where a signal has several. */
  readonly goals: readonly Goal[];
  readonly steps: readonly ReclaimStep[];
}

/**
 * What to do after a look.
 * - `rest`: nothing is due;
 * - `hold`: something is due, but the effect of an eviction is still awaited;
 * - `serve`: collect for each pressed device in turn, and evict where collecting is not enough.
 */
export type Decision =
  | { readonly kind: 'rest' }
  | { readonly kind: 'hold'; readonly pressed: readonly Pressed[] }
  | { readonly kind: 'serve'; readonly pressed: readonly Pressed[] };

/** Decides after the first look of a pass. */
export function decide(
  state: EvictionState,
  assessment: Assessment,
  observations: Observations,
  layout: FsLayout,
  settings: EvictionSettings,
): Decision {
  const pressed = pressedDevices(assessment.fresh, observations, layout, settings);
  if (pressed.length === 0) return { kind: 'rest' };
  const waits = settings.policy.eviction.nextEviction === 'after-effect-was-measured';
  if (waits && state.evictionUnderWay !== null && mayStillSuffice(state.evictionUnderWay, pressed, observations)) {
    return { kind: 'hold', pressed };
  }
  return { kind: 'serve', pressed };
}

/**
 * Whether collecting was enough. The kubelet asks all configured thresholds, memory and those in their grace period too;
 * the reclaimd profile those of the pressed device.
 */
export function isRelieved(pressed: Pressed, observations: Observations, settings: EvictionSettings): boolean {
  if (settings.policy.eviction.clearedBy === 'all-thresholds') {
    return thresholdsBelow(settings.thresholds, observations, 'target', settings.lines).length === 0;
  }
  return pressed.goals.every((goal) => isGoalReached(goal, observations));
}

/** Whether one goal is measured. A signal that cannot be seen is not. */
export function isGoalReached(goal: Goal, observations: Observations): boolean {
  const seen = observations.get(goal.signal);
  return seen !== undefined && seen.available >= goal.target;
}

/** Whether an eviction under way is over: measured, or waited for long enough. */
export function isEvictionOver(state: EvictionState, observations: Observations, now: Instant): boolean {
  const { evictionUnderWay } = state;
  if (evictionUnderWay === null) return true;
  if (now >= evictionUnderWay.waitUntil) return true;
  const seen = observations.get(evictionUnderWay.signal);
  if (seen === undefined) return false;
  return evictionUnderWay.isGone && stillToCome(evictionUnderWay, seen.available) === 0;
}

/** Whether what an eviction has not brought yet would end every pressure that it can end; the others wait for their turn. */
function mayStillSuffice(underWay: EvictionUnderWay, pressed: readonly Pressed[], observations: Observations): boolean {
  const seen = observations.get(underWay.signal);
  const goals = pressed.flatMap((each) => each.goals).filter(({ signal }) => signal === underWay.signal);
  if (seen === undefined || goals.length === 0) return true;
  // That it is gone and has brought nothing so far is no reason for another one: the series may have to end.
  if (underWay.isGone && isFutile(underWay, seen.available)) return true;
  const coming = stillToCome(underWay, seen.available);
  return coming === null || goals.every(({ target }) => seen.available + coming >= target);
}

function pressedDevices(
  due: readonly Threshold[],
  observations: Observations,
  layout: FsLayout,
  settings: EvictionSettings,
): readonly Pressed[] {
  const groups = groupBy(due, (threshold) => deviceOf(threshold.signal, layout));
  const pressed = [...groups.values()].flatMap((thresholds) => {
    const [threshold] = thresholds;
    if (threshold === undefined) return [];
    const steps = reclaimSteps(threshold.signal, layout, settings.policy);
    return [{ threshold, thresholds, goals: goalsOf(thresholds, observations, settings), steps }];
  });
  return settings.policy.eviction.filesystemsPerPass === 'first' ? pressed.slice(0, 1) : pressed;
}

function goalsOf(
  thresholds: readonly Threshold[],
  observations: Observations,
  settings: EvictionSettings,
): readonly Goal[] {
  const goals = new Map<Signal, Goal>();
  // What containerfs was given says nothing that its original on the same device does not say.
  const own = thresholds.filter((each) => !each.isDerived);
  for (const threshold of own.length > 0 ? own : thresholds) {
    const seen = observations.get(threshold.signal);
    if (seen === undefined) continue;
    const { line, target } = settings.lines.lineOf(threshold, seen.capacity);
    const other = goals.get(threshold.signal);
    if (other === undefined || target > other.target)
      goals.set(threshold.signal, { signal: threshold.signal, line, target });
  }
  return [...goals.values()];
}

/** Signals of filesystems that share a device are served together. */
function deviceOf(signal: Signal, layout: FsLayout): string {
  const { filesystem, resource } = SIGNALS[signal];
  if (filesystem === null) return resource;
  return deviceUnder(filesystem, layout);
}
