import type { RemovalSubject } from '../eviction/event.js';
import type { Removal, Removed } from './removal.js';

/** Removes what a subject names. Rejects when the outside fails. */
export type Remover = (subject: RemovalSubject, signal: AbortSignal) => Promise<Removed>;

/** A removal of which the subject tells all: thousands are planned for the few that are carried out, so it holds nothing else. */
export class PlannedRemoval implements Removal {
  readonly subject: RemovalSubject;
  readonly #remove: Remover;

  constructor(subject: RemovalSubject, remove: Remover) {
    this.subject = subject;
    this.#remove = remove;
  }

  carryOut(signal: AbortSignal): Promise<Removed> {
    return this.#remove(this.subject, signal);
  }
}
