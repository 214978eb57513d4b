import { type Instant, instant, later, milliseconds } from '../units/units.js';
import { thresholdText } from './explain.js';
import { NOTHING_REMEMBERED, type Remembered } from './remembered.js';
import { type NodeCondition, SIGNALS, type Signal } from './signal.js';
import type { EvictionState } from './state.js';
import { type StoredValue, saved } from './stored-value.js';
import type { Threshold } from './threshold.js';

/** How the parts of the state that outlive the process are written: times of this process to wall times. */
export interface Saving {
  readonly thresholds: readonly Threshold[];
  readonly toWall: (at: Instant) => number;
}

/** How they are read: the other way round, by the thresholds of now. */
export interface Recalling {
  readonly thresholds: readonly Threshold[];
  /** An age that makes no sense counts from now. */
  readonly fromWall: (at: number) => Instant;
  readonly now: Instant;
}

interface SavedPart {
  /** The fields of the state that it is made of: while these are the same values, so is what is saved. */
  readonly fields: readonly (keyof EvictionState)[];
  /** Undefined = nothing to save. */
  save(state: EvictionState, saving: Saving): StoredValue | undefined;
  /** Throws on anything that `save` does not write. */
  recall(value: StoredValue, recalling: Recalling): Partial<Remembered>;
}

/** A condition that held at the last look is saved as this and not as a time, which would change with each look. */
const HOLDING = 'holding';

/** What outlives the process, by the key under which it is saved. Another field of the state is another row. */
export const SAVED_PARTS = {
  conditions: {
    fields: ['conditionTimes', 'conditions'],
    save: ({ conditionTimes, conditions, lookedAt }, { toWall }) =>
      asMap(conditionTimes, (at, condition) => ({
        held: at === lookedAt ? HOLDING : toWall(at),
        reported: conditions.includes(condition),
      })),
    recall(value, { fromWall, now }) {
      const rows = Object.entries(saved.fields(value)).map(([name, row]) => {
        const { held, reported } = saved.fields(row);
        // Nobody looked since: as far as anybody knows it held until a moment ago. Whether it does now, the look of now says.
        const at = held === HOLDING ? instant(now - 1) : fromWall(saved.number(held));
        return { condition: conditionOf(name), at, isReported: saved.boolean(reported) };
      });
      return {
        conditionTimes: new Map(rows.map(({ condition, at }) => [condition, at])),
        conditions: rows.filter((each) => each.isReported).map(({ condition }) => condition),
      };
    },
  },
  thresholds: {
    fields: ['firstMet', 'unresolved', 'pressing'],
    save({ firstMet, unresolved, pressing }, { thresholds, toWall }) {
      const rows = thresholds.flatMap((each) => {
        const since = firstMet.get(each.id);
        const row = { unresolved: unresolved.includes(each.id), pressing: pressing.has(each.id) };
        if (since === undefined && !row.unresolved && !row.pressing) return [];
        return [[thresholdText(each), { firstMet: since === undefined ? null : toWall(since), ...row }] as const];
      });
      return asMap(new Map(rows), (row) => row);
    },
    recall(value, { thresholds, fromWall }) {
      const rows = saved.fields(value);
      // By their text: ids are positions in a configuration, which may have changed.
      const known = thresholds.flatMap((each) => {
        const row = rows[thresholdText(each)];
        if (row === undefined) return [];
        const { firstMet, unresolved, pressing } = saved.fields(row);
        const since = saved.orNull((at) => fromWall(saved.number(at)), firstMet);
        return [{ id: each.id, since, isUnresolved: saved.boolean(unresolved), isPressing: saved.boolean(pressing) }];
      });
      return {
        firstMet: new Map(known.flatMap(({ id, since }) => (since === null ? [] : [[id, since] as const]))),
        unresolved: known.filter((each) => each.isUnresolved).map(({ id }) => id),
        pressing: known.filter((each) => each.isPressing).map(({ id }) => id),
      };
    },
  },
  ending: {
    fields: ['ending'],
    save: ({ ending }, { toWall }) =>
      ending === null ? undefined : { ...ending, decidedAt: toWall(ending.decidedAt), grace: ending.grace },
    recall(value, { fromWall }) {
      const { decidedAt, grace, ...pod } = saved.fields(value);
      return {
        ending: {
          ...evictedPod(pod),
          decidedAt: fromWall(saved.number(decidedAt)),
          grace: milliseconds(saved.number(grace)),
        },
      };
    },
  },
  eviction: {
    fields: ['evictionUnderWay'],
    save({ evictionUnderWay }, { toWall }) {
      if (evictionUnderWay === null) return undefined;
      const { killedAt, waitUntil, ...pod } = evictionUnderWay;
      // The end of the wait lies ahead: as a time of its own it would be none that can be believed.
      return { ...pod, killedAt: toWall(killedAt), waitsMs: Math.max(0, waitUntil - killedAt) };
    },
    recall(value, { fromWall }) {
      const { killedAt, waitsMs, isGone, ...pod } = saved.fields(value);
      const killed = fromWall(saved.number(killedAt));
      return {
        evictionUnderWay: {
          ...evictedPod(pod),
          killedAt: killed,
          waitUntil: later(killed, milliseconds(saved.number(waitsMs))),
          isGone: saved.boolean(isGone),
        },
      };
    },
  },
  'told-to-end': {
    fields: ['toldToEnd'],
    save: ({ toldToEnd }) => (toldToEnd.size === 0 ? undefined : [...toldToEnd]),
    recall: (value) => ({ toldToEnd: saved.list(value).map(saved.text) }),
  },
  'kill-failed': {
    fields: ['killFailed'],
    save: ({ killFailed }, { toWall }) => asMap(killFailed, toWall),
    recall: (value, { fromWall }) => ({
      killFailed: new Map(Object.entries(saved.fields(value)).map(([uid, at]) => [uid, fromWall(saved.number(at))])),
    }),
  },
  'series-ended': {
    fields: ['seriesEnded'],
    save: ({ seriesEnded }) => (seriesEnded === null ? undefined : { ...seriesEnded }),
    recall(value) {
      const { signal, available, missing } = saved.fields(value);
      return {
        seriesEnded: { signal: signalOf(signal), available: saved.number(available), missing: saved.number(missing) },
      };
    },
  },
} as const satisfies Readonly<Record<string, SavedPart>>;

/** The key of a part. */
export type SavedPartName = keyof typeof SAVED_PARTS;

/** All parts with their keys. */
export const SAVED_PART_LIST: readonly (readonly [SavedPartName, SavedPart])[] = Object.entries(
  SAVED_PARTS,
) as readonly (readonly [SavedPartName, SavedPart])[]; // `entries` forgets the keys

/** What was remembered, and what was not understood of it, in words. */
export interface Recalled {
  readonly remembered: Remembered;
  readonly notUnderstood: readonly string[];
}

/** Reads all parts; one that is not understood is as if it had never been saved, and keys that nobody knows are passed over. */
export function recallState(entries: ReadonlyMap<string, StoredValue>, recalling: Recalling): Recalled {
  let remembered = NOTHING_REMEMBERED;
  const notUnderstood: string[] = [];
  for (const [name, part] of SAVED_PART_LIST) {
    const value = entries.get(name);
    if (value === undefined) continue;
    try {
      remembered = { ...remembered, ...part.recall(value, recalling) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      notUnderstood.push(`${name}: ${error.message}`);
    }
  }
  return { remembered, notUnderstood };
}

function asMap<Key extends string, Value>(
  map: ReadonlyMap<Key, Value>,
  valueOf: (value: Value, key: Key) => StoredValue,
): StoredValue | undefined {
  if (map.size === 0) return undefined;
  return Object.fromEntries([...map].map(([key, value]) => [key, valueOf(value, key)]));
}

function evictedPod({ podUid, podLabel, signal, availableBefore, expected }: Readonly<Record<string, StoredValue>>) {
  return {
    podUid: saved.text(podUid),
    podLabel: saved.text(podLabel),
    signal: signalOf(signal),
    availableBefore: saved.number(availableBefore),
    expected: saved.orNull(saved.number, expected),
  };
}

function signalOf(value: StoredValue | undefined): Signal {
  const name = saved.text(value);
  if (!Object.hasOwn(SIGNALS, name)) throw new RangeError(`Cannot read what was saved as it must be a signal: ${name}`);
  return name as Signal; // just looked up
}

function conditionOf(name: string): NodeCondition {
  const known = Object.values(SIGNALS).find(({ condition }) => condition === name);
  if (known === undefined) throw new RangeError(`Cannot read what was saved as it must be a condition: ${name}`);
  return known.condition;
}
