import { type ContainerEventResponse, ContainerEventType } from '../proto/generated/cri.js';
import type { Now } from './options.js';

/** How long and how many events wait for a subscriber. Five minutes is containerd's own limit. */
const KEPT_MS = 5 * 60 * 1000;
const KEPT_EVENTS = 1000;

/** What happened to a container or a sandbox. */
export type EventKind = 'CREATED' | 'STARTED' | 'STOPPED' | 'DELETED';

const TYPES = {
  CREATED: ContainerEventType.CONTAINER_CREATED_EVENT,
  STARTED: ContainerEventType.CONTAINER_STARTED_EVENT,
  STOPPED: ContainerEventType.CONTAINER_STOPPED_EVENT,
  DELETED: ContainerEventType.CONTAINER_DELETED_EVENT,
} as const satisfies Record<EventKind, ContainerEventType>;

/** Tells what happens to everybody who listens; keeps it for the next one when nobody does. */
export class Events {
  readonly #now: Now;
  readonly #subscribers = new Set<(event: ContainerEventResponse) => void>();
  #kept: { readonly at: number; readonly event: ContainerEventResponse }[] = [];

  constructor(now: Now) {
    this.#now = now;
  }

  /** The event's time is now; its statuses are those of now as well. */
  tell(kind: EventKind, event: Omit<ContainerEventResponse, 'containerEventType'>): void {
    const message = { ...event, containerEventType: TYPES[kind] };
    if (this.#subscribers.size === 0) {
      this.#kept = [...this.#kept.slice(1 - KEPT_EVENTS), { at: this.#now(), event: message }];
    }
    for (const subscriber of this.#subscribers) subscriber(message);
  }

  /** Returns how to end the subscription. */
  subscribe(subscriber: (event: ContainerEventResponse) => void): () => void {
    const kept = this.#kept;
    this.#kept = [];
    this.#subscribers.add(subscriber);
    for (const { at, event } of kept) if (this.#now() - at <= KEPT_MS) subscriber(event);
    return () => this.#subscribers.delete(subscriber);
  }
}
