/**
 * Ids that wait to be worked on, each once. One that is being worked on is not handed out a second time: asked for again, it
 * waits until the work under way is done. Mirrors the kubelet's work queue.
 */
export class UniqueQueue {
  readonly #waiting = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly #again = new Set<string>();

  /** Asks for work on an id. */
  add(id: string): void {
    if (this.#underWay.has(id)) this.#again.add(id);
    else this.#waiting.add(id);
  }

  /** The id that has waited longest, now being worked on; null when none waits. */
  take(): string | null {
    for (const id of this.#waiting) {
      this.#waiting.delete(id);
      this.#underWay.add(id);
      return id;
    }
    return null;
  }

  /** The work on an id has ended. */
  done(id: string): void {
    this.#underWay.delete(id);
    if (this.#again.delete(id)) this.#waiting.add(id);
  }
}
