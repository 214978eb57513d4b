/** What the process that passes over records answers. */
export interface PassTimes {
  /** Milliseconds of CPU of each pass: all threads of the process, those of V8's collector included. */
  readonly cpuMs: readonly number[];
  /** What the last pass would have removed. */
  readonly wouldRemove: number;
  /** Whom it would have evicted; null = nobody. */
  readonly wouldEvict: string | null;
}
