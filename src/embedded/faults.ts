import { CriError, type StatusName } from './cri-error.js';
import { type Latch, latch, pause } from './waiting.js';

/** Which calls a fault hits. */
export interface FaultTarget {
  /** Name of the RPC as in the proto (`RemoveImage`), or `*` for each. */
  readonly call: string;
  /** Hits only calls about such an id or image name. */
  readonly id?: string | RegExp;
  /** How many calls it hits; all of them unless said. */
  readonly times?: number;
}

/** What goes wrong with a call. */
type Effect =
  | { readonly kind: 'fail'; readonly code: StatusName; readonly message: string }
  | { readonly kind: 'hang'; readonly ms: number };

interface Rule {
  readonly target: FaultTarget;
  readonly effect: Effect;
  left: number;
}

/** Opens and closes the door of the server. */
export interface Door {
  open(): Promise<void>;
  shut(): Promise<void>;
}

/** What can be made to go wrong. Everything stays until undone: by the function returned, or by `clear`. */
export class Faults {
  readonly #door: Door;
  readonly #rules = new Set<Rule>();
  #slowMs = 0;
  #frozen: Latch | null = null;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Answers such calls with a status, without doing them. */
  fail(target: FaultTarget, code: StatusName, message = 'injected failure'): () => void {
    return this.#add(target, { kind: 'fail', code, message });
  }

  /** Holds such calls back for a time (for ever unless said), then does them unless the caller is gone. */
  hang(target: FaultTarget, ms = Number.POSITIVE_INFINITY): () => void {
    return this.#add(target, { kind: 'hang', ms });
  }

  /** Delays each call by that much; 0 ends it. */
  slow(ms: number): void {
    this.#slowMs = ms;
  }

  /** Answers nothing until thawed, as a stopped process: callers run into their deadlines. */
  freeze(): void {
    this.#frozen ??= latch();
  }

  /** Goes on with everything that waits and whose caller is still there. */
  thaw(): void {
    this.#frozen?.open();
    this.#frozen = null;
  }

  /** Drops every connection and takes no new one. */
  refuseConnections(): Promise<void> {
    return this.#door.shut();
  }

  /** Takes connections again. */
  acceptConnections(): Promise<void> {
    return this.#door.open();
  }

  /** Undoes everything but `refuseConnections`. */
  clear(): void {
    this.#rules.clear();
    this.#slowMs = 0;
    this.thaw();
  }

  /**
   * What a call goes through before it is done.
   * @throws CriError what was ordered, or CANCELLED when the caller is gone meanwhile
   */
  async before(call: string, id: string, signal: AbortSignal): Promise<void> {
    if (this.#slowMs > 0) await pause(this.#slowMs, signal);
    while (this.#frozen !== null && !signal.aborted) await untilOpen(this.#frozen, signal);
    for (const rule of this.#rules) {
      if (rule.left === 0 || !matches(rule.target, call, id)) continue;
      rule.left -= 1;
      if (rule.effect.kind === 'fail') throw new CriError(rule.effect.code, rule.effect.message);
      await pause(rule.effect.ms, signal);
    }
    if (signal.aborted) throw new CriError('CANCELLED', `${call}: the caller is gone`);
  }

  #add(target: FaultTarget, effect: Effect): () => void {
    const rule = { target, effect, left: target.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(rule);
    return () => this.#rules.delete(rule);
  }
}

function matches(target: FaultTarget, call: string, id: string): boolean {
  if (target.call !== '*' && target.call !== call) return false;
  if (target.id === undefined) return true;
  return typeof target.id === 'string' ? target.id === id : target.id.test(id);
}

function untilOpen(frozen: Latch, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => resolve();
    signal.addEventListener('abort', go, { once: true });
    void frozen.opened.then(go);
  });
}
