import type { EvictionState } from '../../../src/eviction/state.js';
import type { Threshold } from '../../../src/eviction/threshold.js';
import type { StepJournal } from '../world/journal.js';
import type { Difference } from './outcome.js';
import type { Message, Told } from './process.js';

/** What one step did and left, for what is expected of it. */
export interface StepRecord {
  readonly journal: StepJournal;
  readonly told: Told;
  /** After the step. */
  readonly state: EvictionState;
  /** Virtual time that it took, in milliseconds. */
  readonly took: number;
  /** What was thrown; null = the process lives. */
  readonly crash: string | null;
  /** Pods evicted since the beginning. */
  readonly evicted: ReadonlySet<string>;
  /** The grace of the last stop of each pod, in seconds. */
  readonly graces: ReadonlyMap<string, number>;
  /** Messages since the beginning. */
  readonly allMessages: readonly Message[];
  /** Pods that were let in since the beginning. */
  readonly admitted: readonly string[];
  /** Containers whose log files are all gone. */
  readonly withoutLogs: (container: string) => boolean;
  /** Thresholds in force after the step, those of containerfs derived. */
  readonly thresholds: readonly Threshold[];
}

/** Checks one key of an expectation. */
export type Check<Expected> = (path: string, expected: Expected, record: StepRecord) => readonly Difference[];
