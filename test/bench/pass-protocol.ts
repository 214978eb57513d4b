/** What the process that passes over records answers. */
export interface PassTimes {
  /** Milliseconds of CPU of the first pass of the process, when nothing is compiled yet. */
  readonly firstMs: number;
  /** The same of each pass after the warm-up: all threads of the process, those of V8's collector included. */
  readonly cpuMs: readonly number[];
  /** What the last pass would have removed. */
  readonly wouldRemove: number;
  /** Whom it would have evicted; null = nobody. */
  readonly wouldEvict: string | null;
}
