import type { RemovalSubject } from '../eviction/event.js';
import type { PreparedStep, Removal, Removed } from './removal.js';

/** Removes what a subject names. Rejects when the outside fails. */
export type Remover = (subject: RemovalSubject, signal: AbortSignal) => Promise<Removed>;

/** What all removals of one plan have in common. */
export interface RemovalWays<Item> {
  describe(item: Item, why: string): RemovalSubject;
  readonly remove: Remover;
}

/** A removal whose subject is made when somebody asks: thousands are planned for the few that are carried out. */
export class PlannedRemoval<Item extends { readonly id: string } = { readonly id: string }> implements Removal {
  readonly #item: Item;
  readonly #why: string;
  readonly #ways: RemovalWays<Item>;
  #subject: RemovalSubject | null = null;

  constructor(item: Item, why: string, ways: RemovalWays<Item>) {
    this.#item = item;
    this.#why = why;
    this.#ways = ways;
  }

  /** Of what goes. */
  get id(): string {
    return this.#item.id;
  }

  get subject(): RemovalSubject {
    this.#subject ??= this.#ways.describe(this.#item, this.#why);
    return this.#subject;
  }

  carryOut(signal: AbortSignal): Promise<Removed> {
    return this.#ways.remove(this.subject, signal);
  }
}

/** A step of such removals. */
export interface PlannedStep extends PreparedStep {
  readonly removals: readonly PlannedRemoval[];
}
