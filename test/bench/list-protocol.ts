/** What the process that lists containers is asked to do, on its command line: endpoint, task, rounds. */
export type ListTask =
  /** Lists as the daemon does, and receives the same bytes raw and decodes them, in turns. */
  | 'time'
  /** Lists as the daemon does, then rests. */
  | 'memory';

/** What it answers to `time`: milliseconds of each round. */
export interface ListTimes {
  readonly kind: 'time';
  readonly listed: readonly number[];
  readonly raw: readonly number[];
  readonly containers: number;
  readonly bytes: number;
}

/** What it answers to `memory`, in MiB. */
export interface ListMemory {
  readonly kind: 'memory';
  readonly peak: number;
  /** After a rest of 10 s. */
  readonly shortly: number;
  /** After a rest of 30 s. */
  readonly idle: number;
  readonly containers: number;
}
