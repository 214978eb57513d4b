import type { EvictionEvent, KillOutcome, PodName } from '../eviction/event.js';
import { CLEANUP_WAIT } from '../eviction/remembered.js';
import type { Signal } from '../eviction/signal.js';
import { type Instant, later, type Milliseconds } from '../units/units.js';

/** What is known of a kill when it is sent. */
export interface KillFacts {
  readonly pod: PodName;
  readonly signal: Signal;
  /** What the end of the pod should bring, in the signal's unit; null when nobody knows. */
  readonly expected: number | null;
  readonly availableBefore: number;
  readonly sentAt: Instant;
  readonly grace: Milliseconds;
  /** Cuts what is left of the grace. */
  readonly hasten: AbortController;
}

/** A kill that was sent, and goes on whatever the passes do. */
export class Kill {
  readonly facts: KillFacts;
  /** When its grace was cut; null = it was not. */
  hastenedAt: Instant | null = null;
  /** When the runtime was last helped along. */
  helpedAt: Instant | null = null;
  /** Whether it was told that nothing could be freed for it. */
  isSaidToBeStuck = false;
  /** Whether its `pod-killed` was told. */
  isTold = false;
  /** How the pod lingers, as last seen. */
  #lingers: KillOutcome | null = null;
  #outcome: KillOutcome | null = null;
  #events: EvictionEvent[] = [];
  readonly #over = new AbortController();

  constructor(facts: KillFacts, events: AsyncGenerator<EvictionEvent, KillOutcome>) {
    this.facts = facts;
    void this.#drain(events);
  }

  /** When its grace is over. */
  get graceEnds(): Instant {
    return this.hastenedAt ?? later(this.facts.sentAt, this.facts.grace);
  }

  /** Until when its space is waited for. */
  get waitUntil(): Instant {
    return later(this.graceEnds, CLEANUP_WAIT);
  }

  /** How it ended; null while it goes on. */
  get outcome(): KillOutcome | null {
    return this.#outcome;
  }

  /** How it stands, when nobody waits any longer. */
  get outcomeSoFar(): KillOutcome {
    return this.#outcome ?? this.#lingers ?? { kind: 'still-running', message: 'it has not ended yet' };
  }

  /** Aborts when it is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** What it told since the last time. */
  take(): readonly EvictionEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  async #drain(events: AsyncGenerator<EvictionEvent, KillOutcome>): Promise<void> {
    try {
      for (;;) {
        const next = await events.next();
        if (next.done === true) {
          this.#outcome = next.value;
          return;
        }
        if (next.value.kind === 'pod-lingers') this.#lingers = next.value.outcome;
        this.#events.push(next.value);
      }
    } catch (error) {
      // A fault of our own: nothing is known of the pod then, and the pass that comes to it says so.
      this.#outcome = { kind: 'unverified', message: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#over.abort();
    }
  }
}

/** The kills that were sent and are not over, or not told yet. They outlive a pass. */
export class Kills {
  readonly #ongoing = new Map<string, Kill>();
  /** Everybody who was killed in this life of the daemon; others may have been in an earlier one. The newest thousand. */
  readonly #sent = new Set<string>();

  get ongoing(): readonly Kill[] {
    return [...this.#ongoing.values()];
  }

  hasSent(uid: string): boolean {
    return this.#sent.has(uid);
  }

  send(facts: KillFacts, events: AsyncGenerator<EvictionEvent, KillOutcome>): Kill {
    const kill = new Kill(facts, events);
    const { uid } = facts.pod;
    this.#ongoing.set(uid, kill);
    this.#sent.add(uid);
    for (const oldest of this.#sent) {
      if (this.#sent.size <= KEPT) break;
      this.#sent.delete(oldest);
    }
    return kill;
  }

  /** Forgets one that is over and told. */
  drop(kill: Kill): void {
    this.#ongoing.delete(kill.facts.pod.uid);
  }
}

const KEPT = 1_000;
