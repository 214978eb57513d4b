/** A call as scenarios name it, in the order of the calls. */
export interface JournalCall {
  readonly kind: string;
  /** Null for calls without an object. */
  readonly id: string | null;
}

/** What the product did in one step. */
export class StepJournal {
  readonly calls: JournalCall[] = [];
  readonly graces = new Map<string, number>();
  readonly logDirsRemoved: string[] = [];
  readonly logFilesRemoved: string[] = [];
  /** Files removed, by pod. */
  readonly terminationFilesRemoved = new Map<string, number>();
  mostAtOnce = 0;
  #atOnce = 0;

  call(kind: string, id: string | null): void {
    this.calls.push({ kind, id });
  }

  /** Counts a removal as under way while `work` is. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      return await work();
    } finally {
      this.#atOnce -= 1;
    }
  }

  get texts(): readonly string[] {
    return this.calls.map(({ kind, id }) => (id === null ? kind : `${kind}:${id}`));
  }
}
