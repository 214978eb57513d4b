import type { FailedRemoval, Warning } from '../eviction/warning.js';
import type { Notices } from './notices.js';

/** A removal that failed, as events of passes under pressure and of periodic ones tell it. */
export interface FailureToTell {
  readonly what: string;
  readonly id: string;
  readonly label: string;
  readonly message: string;
  /** The runtime said that it removed it, and still lists it. */
  readonly isStillListed: boolean;
}

/** The objects of the sentence, in the plural. */
const MANY: Readonly<Record<string, string>> = {
  container: 'containers',
  sandbox: 'sandboxes',
  image: 'images',
  'pod-logs': 'log directories',
  'pod-volumes': 'volumes of pods',
  'log-link': 'links to logs',
  log: 'logs',
};

/**
 * The removals of one pass that failed, told at its end: one message for each kind of object, with those ids that failed anew. What
 * failed for want of space and went at the next try has not failed.
 */
export class FailedRemovals {
  readonly #notices: Notices;
  readonly #failed = new Map<string, FailureToTell>();

  constructor(notices: Notices) {
    this.#notices = notices;
  }

  failed(failure: FailureToTell): void {
    this.#failed.set(failure.id, failure);
  }

  succeeded(id: string): void {
    this.#failed.delete(id);
    this.#notices.ends(`REMOVE_FAILED ${id}`);
    this.#notices.ends(`IMAGE_STILL_PRESENT ${id}`);
  }

  /** What is to be said at the end of the pass. */
  take(): readonly Warning[] {
    const all = [...this.#failed.values()];
    this.#failed.clear();
    const still = all.filter((each) => each.isStillListed && this.#notices.begins(`IMAGE_STILL_PRESENT ${each.id}`));
    const refused = all.filter((each) => !each.isStillListed && this.#notices.begins(`REMOVE_FAILED ${each.id}`));
    const kinds = [...new Set(refused.map(({ what }) => what))];
    return [
      ...still.map(({ id, label }): Warning => ({ code: 'IMAGE_STILL_PRESENT', id, label })),
      ...kinds.map((what): Warning => {
        const failures = refused
          .filter((each) => each.what === what)
          .map(({ id, label, message }): FailedRemoval => ({ id, label, message }));
        return { code: 'REMOVE_FAILED', what: failures.length === 1 ? what : (MANY[what] ?? what), failures };
      }),
    ];
  }
}
