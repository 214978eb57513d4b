/** Runs programs of the operator's. */
export interface CommandPort {
  /**
   * Runs one to its end and gives it a text on its standard input. Rejects with a `PortError` when it cannot be started, does not end
   * in time, or says with its exit code that it failed. Aborting ends it.
   */
  run(words: readonly string[], input: string, signal: AbortSignal): Promise<void>;
}
